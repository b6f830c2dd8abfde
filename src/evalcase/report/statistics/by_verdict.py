"""The same figures from answers that were chosen for labelling by what the judge said of them.

Passes and fails of the judge are drawn evenly then, whatever their shares in the run, so that its
rates can't be read off the table: it shows too many of the rarer ones. Each row is weighed by its
share in the run instead, as Begg and Greenes (1983) do. With every answer labelled, the estimates
are those of the plain formulas, and the intervals hardly wider.
"""

from __future__ import annotations

from math import sqrt

from evalcase.model.quick_dataclass import dataclass
from evalcase.report.statistics.confusion import Confusion
from evalcase.report.statistics.estimate import Estimate, clip
from evalcase.report.statistics.kappa import Kappa
from evalcase.report.statistics.wilson import estimate_around

_Slopes = tuple[float, float, float]
"""How fast a figure grows with the judge's pass rate, and with the share of answers that people
pass among its passes, and among its fails."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A table of labels, and how much of the run the judge passes. Neither row may be empty."""

    table: Confusion
    passed: int
    """How many answers of the run the judge passes, labelled or not."""
    judged: int
    """How many it judged."""

    @property
    def rate(self) -> float:
        return self.passed / self.judged

    @property
    def good_passes(self) -> float:
        """The share of the judge's passes that people pass, too."""
        return self.table.true_passes / self.table.judge_passed

    @property
    def good_fails(self) -> float:
        """The share of its fails that people pass."""
        return self.table.false_fails / self.table.judge_failed

    @property
    def share(self) -> float:
        """The share of all answers that people would pass."""
        return self.rate * self.good_passes + (1 - self.rate) * self.good_fails

    def estimate_share(self) -> Estimate:
        rate = self.rate
        return self._around(self.share, (self.good_passes - self.good_fails, rate, 1 - rate))

    def estimate_agreement(self) -> Estimate:
        rate, a, b = self.rate, self.good_passes, self.good_fails
        return self._around(rate * a + (1 - rate) * (1 - b), (a + b - 1, rate, rate - 1))

    def estimate_true_passes(self) -> Estimate | None:
        """Of the answers that people would pass, the share that the judge passes."""
        rate, a, b, share = self.rate, self.good_passes, self.good_fails, self.share
        if not share:
            return None
        slopes = a * b, rate * (1 - rate) * b, -rate * (1 - rate) * a
        return self._around(rate * a / share, _divided(slopes, share))

    def estimate_true_fails(self) -> Estimate | None:
        """Of those that people would fail, the share that it fails."""
        rate, a, b, share = self.rate, self.good_passes, self.good_fails, 1 - self.share
        if share <= 0:
            return None
        slopes = -(1 - a) * (1 - b), rate * (1 - rate) * (1 - b), -rate * (1 - rate) * (1 - a)
        return self._around((1 - rate) * (1 - b) / share, _divided(slopes, share))

    def kappa(self) -> Kappa | None:
        rate, a, b, share = self.rate, self.good_passes, self.good_fails, self.share
        agreed = rate * a + (1 - rate) * (1 - b)
        by_chance = rate * share + (1 - rate) * (1 - share)
        rest = 1 - by_chance
        if rest <= 1e-12:
            return None
        agreed_slopes = a + b - 1, rate, rate - 1
        chance = 2 * rate - 1
        chance_slopes = 2 * share - 1 + chance * (a - b), chance * rate, chance * (1 - rate)
        slopes = tuple(
            (of_agreed * rest - of_chance * (1 - agreed)) / rest**2
            for of_agreed, of_chance in zip(agreed_slopes, chance_slopes, strict=True)
        )
        variance = self._variance((slopes[0], slopes[1], slopes[2]))
        return Kappa((agreed - by_chance) / rest, sqrt(variance))

    def _around(self, value: float, slopes: _Slopes) -> Estimate:
        """Wilson's interval for a sample of the size that would leave the same doubt."""
        variance, total = self._variance(slopes), self.table.total
        inside = clip(value, 1 / (total + 2), 1 - 1 / (total + 2))
        size = inside * (1 - inside) / variance if variance > 0 else total
        return estimate_around(clip(value), size)

    def _variance(self, slopes: _Slopes) -> float:
        """By the rates of all that was counted and one more of each: a cell that happens to be
        empty is no certainty."""
        table = self.table
        rate = (self.passed + 1) / (self.judged + 2)
        a = (table.true_passes + 1) / (table.judge_passed + 2)
        b = (table.false_fails + 1) / (table.judge_failed + 2)
        of_rate, of_a, of_b = slopes
        return (
            of_rate**2 * rate * (1 - rate) / self.judged
            + of_a**2 * a * (1 - a) / table.judge_passed
            + of_b**2 * b * (1 - b) / table.judge_failed
        )


def _divided(slopes: _Slopes, share: float) -> _Slopes:
    return slopes[0] / share**2, slopes[1] / share**2, slopes[2] / share**2
