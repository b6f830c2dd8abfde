"""How often the exact test of McNemar finds a change. For few changed verdicts it is far from what
the normal distribution promises: of four cases, not even four that break are significant."""

from __future__ import annotations

from functools import lru_cache
from math import exp, floor, lgamma, log, log1p, sqrt

from evalcase.report.statistics.beta import share_below
from evalcase.report.statistics.mcnemar import mcnemar_p, smallest_p

POWER = 0.8
_MOST_CHANGED = 300
"""Changed verdicts above which the normal distribution is good enough."""
_HALVINGS = 16
_FAR = 6
"""Standard deviations beyond which nothing is left."""


def is_few(pairs: int, changing: float) -> bool:
    """Whether so few verdicts change that it has to be counted out."""
    return pairs * changing <= _MOST_CHANGED


def fewest_alike(alpha: float) -> int:
    """How many verdicts have to change the same way before that is significant."""
    count = 1
    while smallest_p(count) >= alpha:
        count += 1
    return count


def find_share(pairs: int, changing: float, effect: float, alpha: float) -> float:
    """How often a change by `effect` is significant, where that share of verdicts changes."""
    changing = min(1.0, max(changing, effect))
    right = (1 + effect / changing) / 2
    middle, spread = pairs * changing, _FAR * sqrt(pairs * changing * (1 - changing)) + 1
    first, last = max(0, floor(middle - spread)), min(pairs, floor(middle + spread) + 1)
    return sum(
        _share_of(changed, pairs, changing) * share_below(right, changed - most, most + 1)
        for changed in range(first, last + 1)
        if (most := _most_against(changed, alpha)) >= 0
    )


def smallest_change(pairs: int, changing: float, alpha: float, near: float) -> float | None:
    """The smallest change that is found four times out of five, somewhere `near`; None where not
    even a change of all is."""
    if pairs < fewest_alike(alpha):
        return None
    low, high = 0.0, min(1.0, near)
    while high < 1 and find_share(pairs, changing, high, alpha) < POWER:
        low, high = high, min(1.0, 2 * high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_seen = find_share(pairs, changing, middle, alpha) >= POWER
        low, high = (low, middle) if is_seen else (middle, high)
    return high


@lru_cache(maxsize=256)
def raise_cases(cases: int, changing: float, effect: float, alpha: float) -> int:
    """At least so many cases, and as many more as it takes to find `effect` so often."""
    share = min(1.0, max(changing, effect))
    while is_few(cases, share) and find_share(cases, changing, effect, alpha) < POWER:
        cases += max(1, cases // 100)
    return cases


@lru_cache(maxsize=2048)
def _most_against(changed: int, alpha: float) -> int:
    """How many of the changed verdicts may be the other way, and it is still significant; -1 where
    none may."""
    most = max(-1, floor(changed / 2 - sqrt(changed)) - 1)
    while mcnemar_p(changed - most - 1, most + 1) < alpha:
        most += 1
    while most >= 0 and mcnemar_p(changed - most, most) >= alpha:
        most -= 1
    return most


def _share_of(count: int, pairs: int, share: float) -> float:
    """How often so many of all pairs change."""
    if share >= 1:
        return float(count == pairs)
    ways = lgamma(pairs + 1) - lgamma(count + 1) - lgamma(pairs - count + 1)
    return exp(ways + count * log(share) + (pairs - count) * log1p(-share))
