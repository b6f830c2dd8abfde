"""Intervals of 95 % hold the truth about that often; the bar leaves room for 400 draws."""

from __future__ import annotations

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
from evalcase.stats.intervals import estimate_share

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
