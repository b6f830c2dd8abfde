import pytest

from benchmarks.intervals import (
    CLUSTERED,
    SHAPES,
    WORLDS,
    Shape,
    World,
    cover_clusters,
    cover_rates,
    cover_repeats,
    cover_scores,
    cover_unseen,
    exact_share,
)
from benchmarks.simulation import Setting, cover
from evalcase.stats.intervals import (
    Cluster,
    bound_unseen,
    estimate_clusters,
    estimate_exact_around,
    estimate_share,
    estimate_units,
)
from tests.for_each import for_each

NEWCOMBE_1998 = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]
"""His table of four examples: by Wilson, and by Clopper and Pearson."""


@for_each(("hits", "total", "wilson", "exact"), NEWCOMBE_1998)
def test_the_examples_of_newcombe(
    hits: int, total: int, wilson: tuple[float, float], exact: tuple[float, float]
) -> None:
    for found, published in (
        (estimate_share(hits, total), wilson), (estimate_exact_around(hits / total, total), exact)
    ):  # fmt: skip
        assert found is not None
        assert (round(found.low, 4), round(found.high, 4)) == published


@for_each(("total", "bound"), [(1, 0.95), (10, 0.2589), (60, 0.0487), (300, 0.0099)])
def test_no_failure_is_no_proof(total: int, bound: float) -> None:
    assert bound_unseen(total) == pytest.approx(bound, abs=5e-5)


# Units


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


# Intervals of 95 % hold the truth about that often; the bar leaves room for 400 draws


TIMES = 400
LOWEST = 0.90


@pytest.mark.parametrize(
    "setting",
    [
        Setting(0.5, 0.9, 0.8, judged=300, labelled=100),
        Setting(0.8, 0.9, 0.7, judged=300, labelled=100),
        Setting(0.5, 0.9, 0.8, judged=300, labelled=100, by_verdict=True),
        Setting(0.9, 0.95, 0.6, judged=300, labelled=60, by_verdict=True),
    ],
    ids=str,
)
def test_intervals_hold_the_truth(setting: Setting) -> None:
    held = cover(setting, TIMES, seed=20)
    assert {name: rate for name, rate in held.items() if rate < LOWEST} == {}


def test_two_or_three_of_a_rare_class_are_too_few_for_kappa() -> None:
    """This is why its interval is refused there."""
    assert cover(Setting(0.95, 0.95, 0.6, judged=50, labelled=50), TIMES, seed=20)["kappa"] < 0.93


@pytest.mark.parametrize("total", [5, 20, 60])
def test_rates_are_held_on_the_average_and_never_far_less(total: int) -> None:
    wilson, exact = cover_rates(estimate_share, total), cover_rates(exact_share, total)
    assert 0.945 < sum(wilson) / len(wilson) < 0.96
    assert min(wilson) > 0.83
    assert min(exact) >= 0.95


def test_the_bound_of_what_was_not_seen() -> None:
    assert cover_unseen(60) == pytest.approx(0.95)


@pytest.mark.parametrize("total", [5, 50])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_scores(shape: Shape, total: int) -> None:
    assert cover_scores(shape, total, TIMES, seed=3) > 0.86


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_repeats(world: World) -> None:
    held = cover_repeats(world, 30, TIMES, seed=3)
    assert held["trials"] > 0.88
    assert held["pass^3"] > 0.88


@pytest.mark.parametrize("number", [5, 20])
@pytest.mark.parametrize("world", CLUSTERED, ids=str)
def test_clusters(world: World, number: int) -> None:
    assert cover_clusters(world, number, TIMES, seed=3) > 0.88
