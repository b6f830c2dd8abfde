"""The share that would truly pass, from what a judge passes and how often that is right.

The estimate is that of Rogan and Gladen (1978), its interval that of Lang and Reiczigel (2014);
they hold where the labelled answers were not chosen by what the judge says of them.
"""

from __future__ import annotations

from math import hypot, sqrt

from evalcase.report.statistics.estimate import Estimate, Z, clip_number


def estimate_youden(passes: Estimate, fails: Estimate) -> Estimate:
    """J: how much better than a coin a judge is, 0 to 1, from its rates of true passes and true
    fails; by Newcombe's (1998) square-and-add."""
    value = passes.value + fails.value - 1
    low = value - hypot(passes.value - passes.low, fails.value - fails.low)
    high = value + hypot(passes.high - passes.value, fails.high - fails.value)
    return Estimate(value, clip_number(low, -1), clip_number(high, -1))


def correct_share(share: float, passes: float, fails: float) -> float:
    """The true share behind the one that a judge with these two rates finds."""
    return clip_number((share + fails - 1) / (passes + fails - 1))


def estimate_true_share(
    found: tuple[int, int], true_passes: tuple[int, int], true_fails: tuple[int, int]
) -> Estimate:
    """Each is a count and what it is out of: what the judge passed of all; of those that people
    passed, what it passed; of those that they failed, what it failed. It must be better than a
    coin."""
    value = correct_share(*(hits / total for hits, total in (found, true_passes, true_fails)))
    share, size = (found[0] + Z * Z / 2) / (found[1] + Z * Z), found[1] + Z * Z
    passes, passes_size = (true_passes[0] + 1) / (true_passes[1] + 2), true_passes[1] + 2
    fails, fails_size = (true_fails[0] + 1) / (true_fails[1] + 2), true_fails[1] + 2
    youden = passes + fails - 1
    middle = (share + fails - 1) / youden
    of_passes = passes * (1 - passes) / passes_size
    of_fails = fails * (1 - fails) / fails_size
    variance = share * (1 - share) / size + middle**2 * of_passes + (1 - middle) ** 2 * of_fails
    half = Z * sqrt(variance) / abs(youden)
    shift = 2 * Z * Z * (middle * of_passes - (1 - middle) * of_fails)
    low, high = clip_number(middle + shift - half), clip_number(middle + shift + half)
    # It is drawn towards the middle, and may leave an estimate outside that lies at the edge.
    return Estimate(value, min(low, value), max(high, value))
