"""What came of each target of a run: a table of their cases, one target below the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalcase.report.terminal.cells import cut, measure, pad
from evalcase.report.terminal.progress import VERDICTS, money, percent
from evalcase.report.terminal.statistics import Row
from evalcase.report.terminal.style import Style, paint
from evalcase.text.visible import visible

_NAME = 10
"""Cells that the name of a target has at least."""


def target_table(targets: Mapping[str, Row], width: int, style: Style) -> Iterator[str]:
    """A line for each target, below a head."""
    words = [word for word in VERDICTS if any(row.verdicts[word] for row in targets.values())]
    priced = any(row.cost_usd is not None for row in targets.values())
    head = ["target", *words, "pass rate", *(["cost"] if priced else []), "mean"]
    rows = [
        [
            visible(name),
            *(f"{row.verdicts[word]:,}" for word in words),
            _rate(row),
            *([money(row.cost_usd)] if priced else []),
            f"{row.busy_s / max(1, row.trials):.2f} s",
        ]
        for name, row in targets.items()
    ]
    widths = [max(map(measure, column)) for column in zip(head, *rows, strict=True)]
    while len(widths) > 2 and _NAME + sum(widths[1:]) + 2 * len(widths[1:]) > width:
        widths.pop()  # what comes last can be done without
    widths[0] = min(widths[0], max(_NAME, width - sum(widths[1:]) - 2 * len(widths[1:])))
    yield paint(_row(head, widths), style.gutter)
    for row in rows:
        yield _row(row, widths)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = cells
    numbers = (f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=False))
    return "  ".join([pad(cut(first, widths[0]), widths[0]), *numbers])


def _rate(row: Row) -> str:
    tried = row.verdicts.total() - row.verdicts["skipped"]
    return percent(row.verdicts["passed"] / tried) if tried else "–"
