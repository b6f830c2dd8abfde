from __future__ import annotations

from math import sqrt

import pytest

from evalcase.stats.agreement import (
    estimate_true_share,
    estimate_youden,
)
from evalcase.stats.intervals import Estimate, estimate_share

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
