"""A ledger in, all figures of its run out."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from typing import TypeVar

from evalcase.report.figures.cell import FigureCell, JudgingSums, Spent
from evalcase.report.figures.estimates import Estimator
from evalcase.report.figures.figures import Effort, Figures, Interval, Judging, Slice
from evalcase.report.figures.ledger import Ledger
from evalcase.stats.intervals import find_median, find_percentile
from evalcase.types.value import replace

T = TypeVar("T")
_NUMBERS = re.compile(r"(\d{1,15})")


def sum_up(
    ledger: Ledger, interval: Interval = "wilson", ks: Sequence[int] = (), *, not_run: int = 0,
    targets: Sequence[str] = (),
) -> Figures:  # fmt: skip
    """All of them. How many cases were not begun no result can tell."""
    clustering = ledger.clustering
    estimator = Estimator(interval, clustering is not None, tuple(ks))
    unfinished = ledger.count_unfinished()

    def figure(cells: Sequence[FigureCell]) -> Slice:
        return estimator.of_cases(cells, sum(unfinished[cell] for cell in cells))

    places, named = ledger.places.items(), targets or ledger.targets
    figures = Figures(
        figure([*ledger.places.values()]), sum_up_spent(ledger.spent.values()),
        _as_named(_sum_each(figure, ((target, cell) for (_, target, _), cell in places)), named),
        _as_named({name: sum_up_spent([spent]) for name, spent in ledger.spent.items()}, named),
        _sum_each(figure, ((suite, cell) for (suite, _, _), cell in places)),
        _in_order(_sum_each(figure, ((tag, cell) for (tag, _), cell in ledger.tags.items()))),
        _sum_each(
            estimator.of_grader, ((name, cell) for (name, _), cell in ledger.graders.items())
        ),
        not_run, interval, clustering.path if clustering is not None else None,
        len(clustering.alone) if clustering is not None else 0, "", _sum_up_asked(ledger.asked),
        {
            name: _in_order(
                _sum_each(figure, ((value, cell) for (value, _), cell in cells.items()))
            )
            for name, cells in ledger.variables.cells.items()
        },
        tuple(ledger.variables.crowded), frozenset(ledger.variables.grouping),
    )  # fmt: skip
    shared = ledger.find_shared() if clustering is None else frozenset()
    return _without_shared(figures, shared) if shared else figures


def _without_shared(figures: Figures, shared: frozenset[str]) -> Figures:
    """What is of several targets has no interval: a case that is hard is so for each of them, and
    to count it as several that came by chance would make the interval too narrow. To tell how far
    they go together would take more for each case than its mark."""
    from evalcase.report.figures.decided import settle_part

    def bare(parts: dict[str, Slice]) -> dict[str, Slice]:
        return {name: settle_part(part) for name, part in parts.items()}

    suites = {name: part for name, part in figures.by_suite.items() if name in shared}
    return replace(
        figures, all=settle_part(figures.all), by_suite={**figures.by_suite, **bare(suites)},
        by_tag=bare(figures.by_tag), by_grader=bare(figures.by_grader),
        by_vars={name: bare(parts) for name, parts in figures.by_vars.items()},
        without="the same cases at several targets; each target has its own, and "
        "`report --cluster id` one of all",
    )  # fmt: skip


def _sum_each(
    figure: Callable[[Sequence[FigureCell]], Slice], named: Iterable[tuple[str, FigureCell]]
) -> dict[str, Slice]:
    """The figures of all cells of a name."""
    grouped: dict[str, list[FigureCell]] = {}
    for name, cell in named:
        grouped.setdefault(name, []).append(cell)
    return {name: figure(cells) for name, cells in grouped.items()}


def _as_named(parts: dict[str, T], named: Sequence[str]) -> dict[str, T]:
    """In the order of some names; which result came first is chance."""
    first = [name for name in named if name in parts]
    return {name: parts[name] for name in dict.fromkeys([*first, *parts])}


def _in_order(parts: dict[str, Slice]) -> dict[str, Slice]:
    """By name, numbers in it by their size: which result came first is chance."""
    return {name: parts[name] for name in sorted(parts, key=_order_of)}


def _order_of(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBERS.split(name)]


def _sum_up_asked(asked: JudgingSums) -> Judging | None:
    if not asked.asked:
        return None
    return Judging(
        asked.asked, asked.cached, asked.input_tokens, asked.output_tokens, asked.seconds,
        asked.cost_usd,
    )  # fmt: skip


def sum_up_spent(several: Iterable[Spent]) -> Effort:
    """What the answers of one target took, or of several together."""
    held = list(several)
    ordered = sorted(_join_arrays(spent.durations for spent in held))
    costs = [amount for spent in held for amount in (spent.cost_usd, spent.rounded)]
    return Effort(
        sum(spent.answers for spent in held), len(ordered), find_median(ordered),
        find_percentile(ordered, 95), sum(spent.busy_s for spent in held),
        sum(spent.reported for spent in held),
        sum(spent.input_tokens for spent in held), sum(spent.output_tokens for spent in held),
        fsum(costs) if any(spent.priced for spent in held) else None,
        sum(spent.unpriced for spent in held), sum(spent.cached for spent in held),
        tuple(map(sum, zip(*(spent.bins for spent in held), strict=True))),
    )  # fmt: skip


def _join_arrays(arrays: Iterable[array[float]]) -> array[float]:
    joined = array("d")
    for each in arrays:
        joined.extend(each)
    return joined
