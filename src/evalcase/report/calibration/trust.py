"""A table of verdicts in, figures with their intervals out; and where the data can't say, why not.

The figures are of the answers of a run: where people labelled as many of the judge's fails as of
its passes, they are weighed by their shares in it.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

from evalcase.report.calibration.drawing import part_by_drawing
from evalcase.report.calibration.match import Matched
from evalcase.stats.agreement import (
    Confusion,
    Kappa,
    Strata,
    cohen_kappa,
    count_pairs,
    estimate_true_share,
    estimate_youden,
)
from evalcase.stats.intervals import Estimate, estimate_difference, estimate_share
from evalcase.types.value import Value

FEWEST = 10
"""Labels of either kind, below which an interval of kappa promises too much."""


class _Figures(NamedTuple):
    agreement: Estimate | None
    true_passes: Estimate | None
    true_fails: Estimate | None
    kappa: Kappa | None
    people: float
    """The share of answers that people pass."""


class Trust(Value, frozen=True):
    """How far a judge agrees with people."""

    table: Confusion
    passed: int
    """How many answers of the run the judge passes, labelled or not."""
    judged: int
    """How many answers of the run have its verdict."""
    agreement: Estimate | None
    true_passes: Estimate | None
    """Of what people pass, the share that the judge passes."""
    true_fails: Estimate | None
    """Of what people fail, the share that it fails."""
    people: float
    """The share of the answers that people pass."""
    youden: Estimate | None
    """J: true passes + true fails - 1, which is 0 for a coin."""
    kappa: float | None
    kappa_interval: Estimate | None
    kappa_refused: str
    """Why there is no interval of kappa."""
    true_share: Estimate | None
    """The share of answers of the run that people would pass."""
    true_share_refused: str
    length: Estimate | None
    """The mean logarithm of the lengths of false passes, less that of false fails."""

    @property
    def judge_share(self) -> Estimate | None:
        """The share of answers of the run that the judge passes."""
        return estimate_share(self.passed, self.judged)

    @property
    def constant(self) -> float:
        """How often somebody would agree with people who always says the same."""
        return max(self.people, 1 - self.people)

    @property
    def floor(self) -> float | None:
        """What kappa is at least; None where the labels can't say."""
        return self.kappa_interval.low if self.kappa_interval is not None else None


def measure_trust(matched: Matched, run: tuple[int, int]) -> Trust:
    """`run` has how many answers the judge passes, and how many it gave a verdict on."""
    table = count_pairs((pair.judge, pair.people) for pair in matched.pairs)
    strata = Strata(part_by_drawing(matched.pairs), run[1]) if matched.is_weighed else None
    figures = _count_figures(table) if strata is None else _weigh_strata(strata)
    youden = None
    if figures.true_passes is not None and figures.true_fails is not None:
        youden = estimate_youden(figures.true_passes, figures.true_fails)
    too_few = _too_few(table, figures.kappa)
    interval = figures.kappa.interval if figures.kappa is not None and not too_few else None
    is_whole = 0 < table.total == run[1]
    doubt = "" if is_whole else _say_doubt(youden)
    return Trust(
        table, *run, figures.agreement, figures.true_passes, figures.true_fails, figures.people,
        youden, figures.kappa.value if figures.kappa is not None and table.total > 1 else None,
        interval, too_few,
        None if doubt else _true_share(table, run, strata), doubt, _compare_lengths(matched),
    )  # fmt: skip


def _count_figures(table: Confusion) -> _Figures:
    return _Figures(
        estimate_share(table.agreed, table.total),
        estimate_share(table.true_passes, table.people_passed),
        estimate_share(table.true_fails, table.people_failed),
        cohen_kappa(table.rows), table.people_passed / table.total if table.total else 0.5,
    )  # fmt: skip


def _weigh_strata(strata: Strata) -> _Figures:
    return _Figures(
        strata.estimate_agreement(), strata.estimate_true_passes(),
        strata.estimate_true_fails(), strata.kappa(), strata.people,
    )  # fmt: skip


def _too_few(table: Confusion, kappa: Kappa | None) -> str:
    passes, fails = table.people_passed, table.people_failed
    if min(passes, fails) < FEWEST:
        return (
            f"people passed {passes:,} of the labelled answers and failed {fails:,}, "
            f"and {FEWEST} of each are needed"
        )
    return "" if kappa is not None else "nothing varies"


def _say_doubt(youden: Estimate | None) -> str:
    if youden is None:
        return "labels of both kinds are needed"
    return "" if youden.low > 0 else "the judge is not clearly better than a coin"


def _true_share(table: Confusion, run: tuple[int, int], strata: Strata | None) -> Estimate | None:
    if table.total == run[1]:
        # People have seen all there is, and no judge is needed to tell.
        return estimate_share(table.people_passed, table.total)
    if strata is not None:
        return strata.estimate_people()
    true_passes = table.true_passes, table.people_passed
    return estimate_true_share(run, true_passes, (table.true_fails, table.people_failed))


def _compare_lengths(matched: Matched) -> Estimate | None:
    passes: list[float] = []
    fails: list[float] = []
    for pair in matched.pairs:
        if pair.judge != pair.people:
            (fails if pair.people else passes).append(log(1 + pair.judged.length))
    return estimate_difference(passes, fails)
