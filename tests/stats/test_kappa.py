from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import exp, lgamma, log
from operator import mul

from evalcase.stats.agreement import cohen_kappa
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
