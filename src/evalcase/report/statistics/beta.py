"""The beta distribution: the share of it below a number, and the number below which a share lies.

The first is the regularised incomplete beta function by its continued fraction, evaluated in the
way of Lentz (1976); the second is found from it by Newton's steps within a bracket.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p

_CLOSE = 1e-15
_FOUND = 1e-14
"""Near enough: what is left is the rounding of the arithmetic."""
_TINY = 1e-300
_STEPS = 200
"""Of a search that seldom takes ten; halving alone would do with a hundred."""


def share_below(x: float, a: float, b: float) -> float:
    """I_x(a, b): how much of the distribution with these two shapes lies below x."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    scale = exp(_log_density(x, a, b) + log(x) + log1p(-x))
    # On either side of the middle only one of the two fractions converges soon.
    if x < (a + 1) / (a + b + 2):
        return scale * _continue_fraction(x, a, b) / a
    return 1 - scale * _continue_fraction(1 - x, b, a) / b


def beta_quantile(share: float, a: float, b: float) -> float:
    """The number below which this share of the distribution lies."""
    low, high = 0.0, 1.0
    # Where the density is highest, steps of Newton begin on the right side and stay there.
    x = (a - 1) / (a + b - 2) if a > 1 and b > 1 else a / (a + b)
    for _ in range(_STEPS):
        missed = share_below(x, a, b) - share
        if abs(missed) <= _FOUND * share:
            break
        low, high = (low, x) if missed > 0 else (x, high)
        step = x - missed / exp(_log_density(x, a, b))
        nearer = step if low < step < high else (low + high) / 2
        if abs(nearer - x) <= _FOUND * x:
            return nearer
        x = nearer
    return x


def _log_density(x: float, a: float, b: float) -> float:
    scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    return scale + (a - 1) * log(x) + (b - 1) * log1p(-x)


def _continue_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction; its terms come in pairs."""
    below = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    above, value, m = 1.0, below, 0
    change = 0.0
    while abs(change - 1) > _CLOSE:
        m += 1
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            below = 1 / _not_zero(1 + term * below)
            above = _not_zero(1 + term / above)
            change = above * below
            value *= change
    return value


def _not_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY
