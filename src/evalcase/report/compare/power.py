"""What a comparison could have seen, and what it would take to see the change that matters."""

from __future__ import annotations

from math import sqrt

from evalcase.model.quick_tuple import NamedTuple
from evalcase.report.compare.differences import Measured
from evalcase.report.statistics.planning import (
    cases_for_scores,
    cases_for_verdicts,
    smallest_visible,
)


class Power(NamedTuple):
    visible: float
    """The smallest change that is found four times out of five."""
    effect: float
    """The change that matters."""
    needed: int
    """How many cases show that one, four times out of five."""


def find_power(measured: Measured, effect: float) -> Power | None:
    """None where nothing can be estimated."""
    change = measured.change
    if change is None:
        return None
    if measured.test == "exact McNemar":
        # As for the interval, one more that got better and one that got worse.
        changing = (measured.better + measured.worse + 2) / (measured.pairs + 2)
        needed = cases_for_verdicts(changing, effect)
    else:
        # Cases that change together are worth fewer: what the error says is for each of them.
        needed = cases_for_scores(change.error * sqrt(measured.pairs + 2), effect)
    return Power(smallest_visible(change.error), effect, needed)
