"""Cases below each other and targets beside each other: those that not all targets have the same
verdict on, which the list of failures alone doesn't tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from evalcase.report.terminal.cells import cut_text, measure_text, pad_text
from evalcase.report.terminal.failures import UNFINISHED
from evalcase.report.terminal.style import Style, colour_of, paint_text
from evalcase.types.result import Result, Verdict
from evalcase.util.text import make_visible

_MOST_HELD = 1000
"""Cases whose verdicts are held. A run of more has its page."""
_MOST_SHOWN = 20
_NAME = 10
"""Cells that the name of a case has at least."""
_GAP = "  "

VerdictsByTarget = dict[str, Verdict | None]
"""Of a case, by target; None is of one that is not decided."""


class GridRow(NamedTuple):
    """A case, and what came of it at each target."""

    name: str
    verdicts: VerdictsByTarget


class VerdictGrid:
    """Takes the verdicts of cases at targets, in any order."""

    def __init__(self) -> None:
        self._cases: dict[tuple[str, str], VerdictsByTarget] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._overflowed = False

    def add(self, result: Result, verdict: Verdict | None) -> None:
        """Take the verdict of a case, with one of its trials."""
        suite, case, target, _ = result.key
        verdicts = self._cases.get((suite, case))
        if verdicts is None:
            if len(self._cases) >= _MOST_HELD:
                self._overflowed = True
                return
            verdicts = self._cases[suite, case] = {}
            self._numbers[suite, case] = result.number
        verdicts[target] = verdict

    def lines(
        self, targets: Sequence[str], width: int, style: Style,
        see_suite: Callable[[str], str] = str,
    ) -> Iterator[str]:  # fmt: skip
        """The cases that targets differ on, a line for each, and an empty one."""
        rows = self.differing(see_suite)
        drawn = list(_draw_rows(rows[:_MOST_SHOWN], targets, width, style)) if rows else []
        yield from drawn
        if drawn and len(rows) > _MOST_SHOWN:
            more = f"and {len(rows) - _MOST_SHOWN:,} more that targets differ on"
            yield paint_text(more, style.gutter)
        yield from [""] * bool(drawn)

    def differing(self, see_suite: Callable[[str], str] = str) -> list[GridRow]:
        """The cases that targets differ on, in the order of their suites; none of a run that has
        too many cases to hold."""
        if self._overflowed:
            return []
        several = len({suite for suite, _ in self._cases}) > 1
        names = [name for name, said in self._cases.items() if len(set(said.values())) > 1]
        return [
            GridRow(f"{see_suite(suite)}: {case}" if several else case, self._cases[suite, case])
            for suite, case in sorted(names, key=self._numbers.__getitem__)
        ]


def _draw_rows(
    rows: Sequence[GridRow], targets: Sequence[str], width: int, style: Style
) -> Iterator[str]:
    """A head, and a line for each case; nothing if so many targets don't fit."""
    words = {verdict or UNFINISHED for _, said in rows for verdict in said.values()}
    longest = max(measure_text(make_visible(name)) for name in ("case", *(row for row, _ in rows)))
    first, *others = _share_width(longest, targets, max(map(len, words)), width) or [0]
    if not others:
        return
    head = [_fit_cell(target, size) for target, size in zip(targets, others, strict=True)]
    yield paint_text(_GAP.join([_fit_cell("case", first), *head]).rstrip(), style.gutter)
    for name, said in rows:
        cells = [
            _draw_verdict(said, target, size, style)
            for target, size in zip(targets, others, strict=True)
        ]
        yield _GAP.join([_fit_cell(name, first), *cells]).rstrip()


def _share_width(names: int, targets: Sequence[str], least: int, width: int) -> list[int]:
    """How wide each column is, that of names first; none if they don't fit."""
    sizes = [max(least, min(width, measure_text(make_visible(target)))) for target in targets]
    room = width - len(_GAP) * len(sizes)
    most = room - least * len(sizes)
    if most < min(names, _NAME):
        return []
    for_names = min(names, most, max(_NAME, room // 3))
    while sum(sizes) > room - for_names:
        sizes[sizes.index(max(sizes))] -= 1  # the longest name can be cut best
    return [min(names, room - sum(sizes)), *sizes]


def _fit_cell(text: str, size: int) -> str:
    return pad_text(cut_text(make_visible(text), size), size)


def _draw_verdict(said: VerdictsByTarget, target: str, size: int, style: Style) -> str:
    if target not in said:
        return pad_text("–", size)
    word = said[target] or UNFINISHED
    return paint_text(word, colour_of(said[target], style)) + " " * (size - len(word))
