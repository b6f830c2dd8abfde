"""What may be said at every look: bounds that hold, and decisions that are seldom wrong."""

from itertools import combinations
from math import comb, sqrt

import pytest

from benchmarks.stopping import stop_against, stop_likely
from evalcase.stats.intervals import ALPHA, PassSequence, all_pass, any_passes, measure_spread
from evalcase.stats.paired import weigh_change
from tests.for_each import for_each


def after(total: int, *passed: bool) -> PassSequence:
    sequence = PassSequence(total)
    for each in passed:
        sequence.add(each)
    return sequence


def kept(total: int, seen: int, passed: int) -> list[int]:
    """The rule as it is written, without shortcuts."""

    def beta(a: int, b: int) -> float:
        return 1 / ((a + b - 1) * comb(a + b - 2, a - 1))

    return [
        whole
        for whole in range(passed, passed + total - seen + 1)
        if comb(total - seen, whole - passed) * beta(1 + whole, 1 + total - whole)
        / beta(1 + passed, 1 + seen - passed) > ALPHA / (total + 1)
    ]  # fmt: skip


def test_all_orders_of_a_small_suite_hold_the_truth() -> None:
    """Not simulated: every order there is."""
    wrong = orders = 0
    for passing in combinations(range(10), 3):
        sequence = PassSequence(10)
        orders += 1
        held = True
        for place in range(10):
            sequence.add(place in passing)
            held = held and sequence.low <= 3 <= sequence.high
        wrong += not held
    assert wrong / orders <= ALPHA


@pytest.mark.parametrize("passing", [40, 39])
def test_a_likely_stop_is_seldom_wrong(passing: int) -> None:
    """The benchmark `stopping` has 10,000 runs of each."""
    assert stop_likely(50, passing, 40, 200, seed=3).wrong <= ALPHA


def test_a_stop_against_a_run_is_seldom_wrong() -> None:
    assert stop_against(100, 0.1, 0.1, 300, seed=3).wrong <= ALPHA


def test_weighing() -> None:
    assert weigh_change(0, 0) == pytest.approx(1)
    assert weigh_change(1, 0) == pytest.approx(1)
    assert weigh_change(8, 0) == pytest.approx(2**8 / 9)
    assert weigh_change(3, 9) == pytest.approx(2**12 / 13 / comb(12, 3))
    assert weigh_change(100_000, 0) > 1e300


def test_a_fair_bet() -> None:
    """Its mean over all ways that a coin can fall is 1."""
    mean = sum(comb(12, fixed) / 2**12 * weigh_change(fixed, 12 - fixed) for fixed in range(13))
    assert mean == pytest.approx(1)


# Repeats


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
