from __future__ import annotations

from math import comb

from evalcase.stats.paired import cases_for_verdicts, mcnemar_p, visible_in_verdicts
from tests.for_each import for_each


def count_power(pairs: int, changing: float, effect: float) -> float:
    """How often the exact test finds an effect, over all that may come of the pairs."""
    changing = max(changing, effect)
    up, down = (changing + effect) / 2, (changing - effect) / 2
    return sum(
        comb(pairs, fixed) * comb(pairs - fixed, broken)
        * up**fixed * down**broken * (1 - up - down) ** (pairs - fixed - broken)
        for fixed in range(pairs + 1)
        for broken in range(pairs - fixed + 1)
        if fixed > broken and mcnemar_p(fixed, broken) < 0.05
    )  # fmt: skip


@for_each(("pairs", "changing"), [(8, 0.2), (12, 0.7), (30, 0.1), (30, 0.4), (60, 0.05)])
def test_a_visible_change_is_found_four_times_out_of_five(pairs: int, changing: float) -> None:
    effect = visible_in_verdicts(pairs, changing, 0.05)
    assert effect is not None
    assert 0.8 <= count_power(pairs, changing, effect) < 0.96


@for_each(("changing", "effect"), [(0.3, 0.3), (0.6, 0.4), (0.2, 0.2)])
def test_so_many_cases_are_enough(changing: float, effect: float) -> None:
    assert count_power(cases_for_verdicts(changing, effect, 0.05), changing, effect) >= 0.8
