"""What a judge and people say of the same answers, counted in four cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class Confusion(NamedTuple):
    """To pass is what is looked for: a false pass is an answer that only the judge lets pass."""

    true_passes: int
    false_passes: int
    false_fails: int
    true_fails: int

    @property
    def total(self) -> int:
        return sum(self)

    @property
    def people_passed(self) -> int:
        return self.true_passes + self.false_fails

    @property
    def people_failed(self) -> int:
        return self.false_passes + self.true_fails

    @property
    def agreed(self) -> int:
        return self.true_passes + self.true_fails

    @property
    def rows(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """A row for each verdict of the judge, a column for each of people's."""
        return (self.true_passes, self.false_passes), (self.false_fails, self.true_fails)


def count_pairs(pairs: Iterable[tuple[bool, bool]]) -> Confusion:
    """The table of verdicts, of the judge first."""
    counts = Counter(pairs)
    return Confusion(
        counts[True, True], counts[True, False], counts[False, True], counts[False, False]
    )
