"""The same figures where some kinds of answers were chosen for labelling more than others.

Who labels is shown as many answers that a judge failed as it passed, whatever their shares in the
run, so that rates can't be read off the table: it has too many of the rarer kind. Each kind is
weighed by its share instead. The kinds are those by which answers were drawn: another judge may be
measured with the same labels. Errors are by the delta method, as those of kappa in a plain sample:
there, with one kind, they are those of Fleiss, Cohen and Everitt.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from evalcase.report.statistics.confusion import Confusion
from evalcase.report.statistics.estimate import Estimate, clip_number
from evalcase.report.statistics.kappa import SMOOTHING, Kappa, estimate_kappa
from evalcase.report.statistics.wilson import estimate_around
from evalcase.types.value import Value

Slopes = tuple[float, float, float, float]
"""How fast a figure grows with the share of each cell of the table."""


class Stratum(NamedTuple):
    """Answers of one kind: their share of all, and the table of those that were labelled."""

    share: float
    table: Confusion


class Strata(Value, frozen=True):
    """All kinds. Each has labels, and their shares add up to 1."""

    kinds: Sequence[Stratum]
    judged: int
    """How many answers there are of all kinds, labelled or not."""

    @property
    def cells(self) -> Slopes:
        """The share of each cell, as it would be with every answer labelled."""
        return self._smooth_cells(0)

    def _smooth_cells(self, by: float) -> Slopes:
        tables = [(share, _smooth_table(table, by)) for share, table in self.kinds]
        shares = [sum(share * chances[cell] for share, chances in tables) for cell in range(4)]
        return shares[0], shares[1], shares[2], shares[3]

    @property
    def people(self) -> float:
        """The share of answers that people pass."""
        return clip_number(self.cells[0] + self.cells[2])

    def estimate_people(self) -> Estimate:
        return self._around(self.people, (1, 0, 1, 0))

    def estimate_agreement(self) -> Estimate:
        cells = self.cells
        return self._around(cells[0] + cells[3], (1, 0, 0, 1))

    def estimate_true_passes(self) -> Estimate | None:
        """Of the answers that people pass, the share that the judge passes."""
        passed, _, missed, _ = self.cells
        whole = passed + missed
        if whole <= 0:
            return None
        rate = passed / whole
        return self._around(rate, ((1 - rate) / whole, 0, -rate / whole, 0))

    def estimate_true_fails(self) -> Estimate | None:
        """Of those that they fail, the share that it fails."""
        _, missed, _, failed = self.cells
        whole = missed + failed
        if whole <= 0:
            return None
        rate = failed / whole
        return self._around(rate, (0, -rate / whole, 0, (1 - rate) / whole))

    def kappa(self) -> Kappa | None:
        """Agreement beyond chance; None where nothing varies."""
        found = _measure_cells(self.cells)
        smooth = _measure_cells(self._smooth_cells(SMOOTHING))
        if found is None or smooth is None:
            return None
        variance = self._variance(smooth[1], SMOOTHING)
        interval = estimate_kappa(found[0], smooth[0], variance)
        return Kappa(found[0], sqrt(self._variance(found[1])), interval)

    def _around(self, value: float, slopes: Slopes) -> Estimate:
        """Wilson's interval for a plain sample of the size that would leave the same doubt."""
        total = sum(kind.table.total for kind in self.kinds)
        variance = self._variance(slopes)
        inside = clip_number(value, 1 / (total + 2), 1 - 1 / (total + 2))
        size = inside * (1 - inside) / variance if variance > 0 else total
        return estimate_around(clip_number(value), size)

    def _variance(self, slopes: Slopes, by: float = 1) -> float:
        """Within kinds, from those that were labelled; between them, from all that there are."""
        within, means = 0.0, []
        for share, table in self.kinds:
            chances = _smooth_table(table, by)
            mean = sum(slope * chance for slope, chance in zip(slopes, chances, strict=True))
            square = sum(slope**2 * chance for slope, chance in zip(slopes, chances, strict=True))
            within += share**2 * max(0.0, square - mean**2) / table.total
            means.append((share, mean))
        middle = sum(share * mean for share, mean in means)
        return within + sum(share * (mean - middle) ** 2 for share, mean in means) / self.judged


def _measure_cells(cells: Slopes) -> tuple[float, Slopes] | None:
    """Kappa, and how fast it grows with each cell; None where nothing varies."""
    a, b, c, d = cells
    judge, people, agreed = a + b, a + c, a + d
    by_chance = judge * people + (1 - judge) * (1 - people)
    rest = 1 - by_chance
    if rest <= 1e-12:
        return None
    of_judge, of_people = 2 * people - 1, 2 * judge - 1
    chance = (of_judge + of_people, of_judge, of_people, 0.0)
    slopes = [
        (agrees * rest - grows * (1 - agreed)) / rest**2
        for agrees, grows in zip((1, 0, 0, 1), chance, strict=True)
    ]
    return (agreed - by_chance) / rest, (slopes[0], slopes[1], slopes[2], slopes[3])


def _smooth_table(table: Confusion, by: float) -> Sequence[float]:
    """The chance of each cell, with so much more in each of a row that has any: a cell that happens
    to be empty is no certainty."""
    counts = [count + by if sum(row) else 0.0 for row in table.rows for count in row]
    return [count / sum(counts) for count in counts]
