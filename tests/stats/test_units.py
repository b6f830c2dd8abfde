from __future__ import annotations

import pytest

from evalcase.stats.intervals import (
    Cluster,
    estimate_clusters,
    estimate_share,
    estimate_units,
)
from tests.for_each import for_each


def test_scores_that_lie_close_leave_less_doubt() -> None:
    close = [0.79, 0.8, 0.81] * 10
    found = estimate_units(30, sum(close), sum(score**2 for score in close))
    assert found is not None
    assert found.value == pytest.approx(0.8)
    assert found.high - found.low < 0.01


@for_each("value", [0.0, 0.3, 0.7, 1.0])
@for_each("count", [2, 3, 17, 1000])
def test_where_nothing_varies_each_unit_counts_for_one(value: float, count: int) -> None:
    total, squares = sum([value] * count), sum([value * value] * count)
    found = estimate_units(count, total, squares)
    assert found == pytest.approx(estimate_share(value * count, count), abs=1e-9)
    assert found is not None
    assert found.high > found.low


def test_clusters_of_one_case_are_cases() -> None:
    values = [0.0, 1.0, 0.5, 0.75, 1.0]
    alone = estimate_units(5, sum(values), sum(value**2 for value in values))
    assert estimate_clusters(Cluster(1, value) for value in values) == pytest.approx(alone)


def test_cases_that_come_out_alike_count_as_one() -> None:
    clusters = [Cluster(10, 10.0), Cluster(10, 0.0), Cluster(10, 10.0), Cluster(10, 10.0)]
    found = estimate_clusters(clusters)
    assert found == pytest.approx(estimate_units(4, 3.0, 3.0))
