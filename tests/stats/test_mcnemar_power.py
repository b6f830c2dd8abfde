from __future__ import annotations

from math import comb

import pytest

from evalcase.stats.paired import fewest_alike, find_share, mcnemar_p, smallest_change
from tests.for_each import for_each


def counted_out(pairs: int, changing: float, effect: float) -> float:
    """Over all that may come of the pairs."""
    up, down = (changing + effect) / 2, (changing - effect) / 2
    return sum(
        comb(pairs, fixed) * comb(pairs - fixed, broken)
        * up**fixed * down**broken * (1 - up - down) ** (pairs - fixed - broken)
        for fixed in range(pairs + 1)
        for broken in range(pairs - fixed + 1)
        if fixed > broken and mcnemar_p(fixed, broken) < 0.05
    )  # fmt: skip


@for_each(("pairs", "changing", "effect"), [(8, 0.62, 0.62), (12, 0.7, 0.4), (30, 0.4, 0.3)])
def test_how_often_it_is_seen(pairs: int, changing: float, effect: float) -> None:
    expected = counted_out(pairs, changing, effect)
    assert find_share(pairs, changing, effect, 0.05) == pytest.approx(expected, abs=1e-6)


def test_few_cases_show_nothing() -> None:
    assert fewest_alike(0.05) == 6
    assert smallest_change(5, 0.5, 0.05, 0.5) is None
    found = smallest_change(6, 0.5, 0.05, 0.5)
    assert found == pytest.approx(0.8 ** (1 / 6), abs=1e-4)
