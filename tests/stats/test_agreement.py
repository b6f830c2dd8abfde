from collections.abc import Iterator
from itertools import product
from math import exp, lgamma, log, sqrt
from operator import mul

import pytest

from evalcase.stats.agreement import cohen_kappa, estimate_true_share, estimate_youden
from evalcase.stats.intervals import Estimate, estimate_share
from tests.for_each import for_each


@for_each(("each", "low"), [(10, 0.61), (50, 0.90), (500, 0.99)])
def test_few_labels_prove_no_perfection(each: int, low: float) -> None:
    """The standard error is 0 then; the interval is not."""
    kappa = cohen_kappa([each, 0, 0, each])
    assert kappa is not None
    assert kappa.high == 1
    assert low < kappa.low < low + 0.01


@for_each("labels", [20, 30, 40])
def test_its_lower_end_is_above_the_truth_in_at_most_one_of_forty_samples(labels: int) -> None:
    """By exact sums over all tables that have an interval; 3 % are tolerated."""
    lows = list(_lows(labels))
    for share, right, wrong in product((0.4, 0.5, 0.6), (0.95, 0.9, 0.8, 0.6), (0.9, 0.8, 0.6)):
        cells = share * right, (1 - share) * (1 - wrong), share * (1 - right), (1 - share) * wrong
        truth = cohen_kappa(cells)
        assert truth is not None
        logs = [log(cell) for cell in cells]
        chances = [
            (exp(ways + sum(map(mul, table, logs))), low > truth.value) for ways, table, low in lows
        ]
        above = sum(chance for chance, is_above in chances if is_above)
        assert above <= 0.03 * sum(chance for chance, _ in chances)


def _lows(labels: int) -> Iterator[tuple[float, tuple[int, ...], float]]:
    """Every table with at least ten labels of either kind: the logarithm of how many samples give
    it, its cells, and the lower end of its kappa."""
    for a, b, c in product(range(labels + 1), repeat=3):
        table = a, b, c, labels - a - b - c
        if table[3] < 0 or min(a + c, labels - a - c) < 10:
            continue
        kappa = cohen_kappa(table)
        if kappa is not None:
            ways = lgamma(labels + 1) - sum(lgamma(count + 1) for count in table)
            yield ways, table, kappa.low


@for_each("table", [[0, 0, 0, 0], [30, 0, 0, 0], [0, 0, 0, 7]])
def test_there_is_none_where_nothing_varies(table: list[int]) -> None:
    assert cohen_kappa(table) is None


# Prevalence


MANY = 10**9


def test_by_the_formula_with_every_term() -> None:
    """Worked out by hand from the paper: 27 of 50, 18 of 20, 24 of 30."""
    found = estimate_true_share((27, 50), (18, 20), (24, 30))
    share, passes, fails = (27 + 1.920729) / 53.841459, 19 / 22, 25 / 32
    middle = (share + fails - 1) / (passes + fails - 1)
    a, b = passes * (3 / 22) / 22, fails * (7 / 32) / 32
    error = sqrt(share * (1 - share) / 53.841459 + middle**2 * a + (1 - middle) ** 2 * b)
    shift = 2 * 3.841459 * (middle * a - (1 - middle) * b)
    half = 1.959964 * error / (passes + fails - 1)
    expected = (0.34 / 0.7, middle + shift - half, middle + shift + half)
    assert found == pytest.approx(expected, abs=1e-5)


def test_how_much_better_than_a_coin() -> None:
    coin = estimate_youden(*_rates(25, 50, 25, 50))
    assert coin.value == 0.0
    assert coin.low < 0 < coin.high
    good = estimate_youden(*_rates(45, 50, 45, 50))
    assert good.value == pytest.approx(0.8)
    assert good.low > 0.6


def _rates(passes: int, of_passes: int, fails: int, of_fails: int) -> tuple[Estimate, Estimate]:
    first, second = estimate_share(passes, of_passes), estimate_share(fails, of_fails)
    assert first is not None
    assert second is not None
    return first, second
