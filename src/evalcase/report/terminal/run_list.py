"""Runs in, a table out: a line for each where it fits, with a second line where it doesn't."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalcase.report.figures import Mean
from evalcase.report.terminal.cells import cut_text, measure_text, pad_text
from evalcase.report.terminal.part_table import interval_of
from evalcase.report.terminal.progress import write_money, write_percent
from evalcase.report.terminal.style import Style, paint_text
from evalcase.types.result import Totals
from evalcase.types.value import Value
from evalcase.util.text import make_visible

HEAD = ("run", "age", "cases", "passed", "interval", "failed", "errored", "ungraded", "skipped",
        "cost", "suite", "target")  # fmt: skip
_NUMBERS = frozenset(HEAD[2:10])
_NAMES = 2
"""Columns at the end that may move to a line of their own."""


class Entry(Value, frozen=True):
    """A run, as far as it is known."""

    id: str
    age: str = ""
    suites: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    totals: Totals | None = None
    """None where the record can't be read."""
    remark: str = ""
    """That it is incomplete or damaged, and what to do; or how often it was graded."""
    rate: Mean | None = None
    """Of cases that passed, with its interval."""


def list_lines(entries: Sequence[Entry], width: int, style: Style) -> Iterator[str]:
    """The table, newest first as given, below its head."""
    columns = _choose_columns(entries, width)
    names, widths = list(columns), _measure_widths(columns)
    table = [list(row) for row in zip(*columns.values(), strict=True)]
    whole = _can_fit(columns, width)
    shown = len(names) if whole else len(names) - _NAMES
    yield paint_text(_join_row(table[0][:shown], names, widths), style.gutter)
    for entry, row in zip(entries, table[1:], strict=True):
        line = _join_row(row[:shown], names, widths)
        told = [text for word, text in _list_uncounted(entry).items() if word not in columns]
        told += [] if whole or entry.totals is None else [row[-2], row[-1]]
        below = [f"  {'  '.join(told)}"] if told else []
        remark = make_visible(entry.remark)
        if remark and measure_text(line) + 2 + measure_text(remark) <= width:
            line += f"  {paint_text(remark, style.warning)}"
            remark = ""
        yield line
        yield from (paint_text(cut_text(each, width), style.gutter) for each in below)
        if remark:
            yield f"  {paint_text(remark, style.warning)}"


def _choose_columns(entries: Sequence[Entry], width: int) -> dict[str, list[str]]:
    """Those that there is something in, below their names. Intervals are left out where they don't
    fit, or would move names to a line of their own."""
    rows = [list(HEAD), *(_make_cells(entry) for entry in entries)]
    columns = {cells[0]: list(cells) for cells in zip(*rows, strict=True)}
    empty = {"cost": {"–", ""}, "ungraded": {"0", ""}, "skipped": {"0", ""}, "interval": {"–", ""}}
    for name, nothing in empty.items():
        if nothing.issuperset(columns[name][1:]):
            del columns[name]
    numbers = dict(list(columns.items())[:-_NAMES])
    if not _can_fit({name: numbers[name] for name in numbers if name != "interval"}, width):
        for name in ("ungraded", "skipped"):  # they are told below
            columns.pop(name, None)
    without = {name: cells for name, cells in columns.items() if name != "interval"}
    numbers = dict(list(columns.items())[:-_NAMES])
    if _can_fit(columns, width) or (not _can_fit(without, width) and _can_fit(numbers, width)):
        return columns
    return without


def _list_uncounted(entry: Entry) -> dict[str, str]:
    """How many cases are in no other column, where those of them have no room."""
    if entry.totals is None:
        return {}
    counts = {"ungraded": entry.totals.cases.ungraded, "skipped": entry.totals.cases.skipped}
    return {word: f"{count:,} {word}" for word, count in counts.items() if count}


def _can_fit(columns: Mapping[str, Sequence[str]], width: int) -> bool:
    widths = _measure_widths(columns)
    return sum(widths) + 2 * (len(widths) - 1) <= width


def _measure_widths(columns: Mapping[str, Sequence[str]]) -> list[int]:
    # Of a thousand runs most have the same suite, target and counts: each is measured once.
    return [max(map(measure_text, set(column))) for column in columns.values()]


def _join_row(row: Sequence[str], names: Sequence[str], widths: Sequence[int]) -> str:
    cells = (
        cell.rjust(width) if name in _NUMBERS else pad_text(cell, width)
        for cell, name, width in zip(row, names, widths, strict=False)
    )
    return "  ".join(cells).rstrip()


def _make_cells(entry: Entry) -> list[str]:
    if entry.totals is None:
        return [entry.id, entry.age, *[""] * (len(HEAD) - 2)]
    counts, rate = entry.totals.cases, entry.totals.pass_rate
    return [
        entry.id,
        entry.age,
        str(counts.total),
        "–" if rate is None else write_percent(rate),
        "–" if entry.rate is None or entry.rate.low is None else interval_of(entry.rate),
        str(counts.failed),
        str(counts.errored),
        str(counts.ungraded),
        str(counts.skipped),
        write_money(entry.totals.spent_usd),
        _name_several(entry.suites),
        _name_several(entry.targets),
    ]


def _name_several(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    first, *more = [make_visible(name) for name in names] or ["–"]
    return f"{first} +{len(more)}" if more else first
