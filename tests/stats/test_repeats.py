from __future__ import annotations

from itertools import combinations
from math import sqrt

import pytest

from evalcase.stats.intervals import all_pass, any_passes, measure_spread
from tests.for_each import for_each


@for_each("trials", [1, 2, 5, 8])
def test_both_are_counts_of_all_choices(trials: int) -> None:
    for passed in range(trials + 1):
        came = [True] * passed + [False] * (trials - passed)
        for k in range(1, trials + 1):
            choices = list(combinations(came, k))
            assert any_passes(k, trials, passed) == pytest.approx(
                sum(map(any, choices)) / len(choices)
            )
            assert all_pass(k, trials, passed) == pytest.approx(
                sum(map(all, choices)) / len(choices)
            )


def test_what_more_repeats_can_give() -> None:
    """Two cases that passed in 3 of 4 and in 1 of 4 trials: s² of each is 0.25, of its mean
    0.0625. Their means lie apart by a variance of 0.125, of which 0.0625 is by chance of trials."""
    spread = measure_spread(2, 1.0, 0.75**2 + 0.25**2, 2 * 0.0625)
    assert spread is not None
    assert spread.more_repeats == pytest.approx(sqrt(0.0625 / 2))
    assert spread.same_cases == pytest.approx(sqrt(0.125) / 2)
