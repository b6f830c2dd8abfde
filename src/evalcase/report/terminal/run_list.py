"""Runs in, a table out: a line for each where it fits, with a second line where it doesn't."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcase.model.quick_dataclass import dataclass
from evalcase.model.totals import Totals
from evalcase.report.terminal.cells import cut, measure, pad
from evalcase.report.terminal.progress import money, percent
from evalcase.report.terminal.style import Style, paint
from evalcase.text.visible import visible

HEAD = ("run", "age", "cases", "passed", "failed", "errored", "cost", "suite", "target")
_NUMBERS = frozenset(HEAD[2:7])
_NAMES = 2
"""Columns at the end that may move to a line of their own."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A run, as far as it is known."""

    id: str
    age: str = ""
    suites: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    totals: Totals | None = None
    """None where the record can't be read."""
    remark: str = ""
    """That it is incomplete or damaged, and what to do; or how often it was graded."""


def list_lines(entries: Sequence[Entry], width: int, style: Style) -> Iterator[str]:
    """The table, newest first as given, below its head."""
    rows = [_cells(entry) for entry in entries]
    priced = any(entry.totals and entry.totals.cost_usd is not None for entry in entries)
    kept = [at for at, name in enumerate(HEAD) if priced or name != "cost"]
    table = [[row[at] for at in kept] for row in [list(HEAD), *rows]]
    names = [HEAD[at] for at in kept]
    widths = [max(map(measure, column)) for column in zip(*table, strict=True)]
    whole = sum(widths) + 2 * (len(widths) - 1) <= width
    shown = len(kept) if whole else len(kept) - _NAMES
    yield paint(_joined(table[0][:shown], names, widths), style.gutter)
    for entry, row in zip(entries, table[1:], strict=True):
        line = _joined(row[:shown], names, widths)
        below = [] if whole or entry.totals is None else [f"  {row[-2]}  {row[-1]}"]
        remark = visible(entry.remark)
        if remark and measure(line) + 2 + measure(remark) <= width:
            line += f"  {paint(remark, style.warning)}"
            remark = ""
        yield line
        yield from (paint(cut(each, width), style.gutter) for each in below)
        if remark:
            yield f"  {paint(remark, style.warning)}"


def _joined(row: Sequence[str], names: Sequence[str], widths: Sequence[int]) -> str:
    cells = (
        cell.rjust(width) if name in _NUMBERS else pad(cell, width)
        for cell, name, width in zip(row, names, widths, strict=False)
    )
    return "  ".join(cells).rstrip()


def _cells(entry: Entry) -> list[str]:
    if entry.totals is None:
        return [entry.id, entry.age, *[""] * (len(HEAD) - 2)]
    counts, rate = entry.totals.cases, entry.totals.pass_rate
    return [
        entry.id,
        entry.age,
        str(counts.total),
        "–" if rate is None else percent(rate),
        str(counts.failed),
        str(counts.errored),
        money(entry.totals.cost_usd),
        _several(entry.suites),
        _several(entry.targets),
    ]


def _several(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    first, *more = [visible(name) for name in names] or ["–"]
    return f"{first} +{len(more)}" if more else first
