"""Intervals of 95 % hold the truth about that often; the bar leaves room for 400 draws."""

from __future__ import annotations

import pytest

from benchmarks.simulation import Setting, cover

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
    assert cover(Setting(0.95, 0.95, 0.6, judged=50, labelled=50), TIMES, seed=20)["kappa"] < 0.85
