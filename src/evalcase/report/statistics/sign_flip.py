"""The sign-flip test: if base and head were alike, each difference could as well have had the other
sign. How often would their sum then be as far from 0 as it is?"""

from __future__ import annotations

from collections.abc import Mapping
from math import erfc, sqrt
from random import Random

_FEW = 16
"""Differences up to which every way to set the signs is counted."""
_DRAWS = 9_999
MOST_DISTINCT = 1_000
"""Sizes of differences above which their sum is as good as normal."""
_CLOSE = 1e-9
"""Sums that differ by less are the same, but for the arithmetic."""
_BITS = 8


def sign_flip_p(sizes: Mapping[float, int], total: float, seed: int = 0) -> float:
    """p, from how often each difference occurs, without its sign, and the sum of all with theirs.

    The seed makes it the same at every time; it decides the last digits of p only.
    """
    sizes = {size: count for size, count in sizes.items() if size > 0 and count}
    number = sum(sizes.values())
    if not number:
        return 1.0
    least = abs(total) * (1 - _CLOSE) - _CLOSE
    if number <= _FEW:
        return _count_flips(sizes, least)
    if len(sizes) <= MOST_DISTINCT:
        return _draw_flips(sizes, least, Random(seed))  # noqa: S311 - repeatable, not secret
    return normal_p(total, sum(size * size * count for size, count in sizes.items()))


def normal_p(total: float, squares: float) -> float:
    """The same for very many differences, from their sum and that of their squares."""
    return erfc(abs(total) / sqrt(2 * squares)) if squares > 0 else 1.0


def _count_flips(sizes: Mapping[float, int], least: float) -> float:
    """All ways to set the signs."""
    sums = [0.0]
    for size, count in sizes.items():
        for _ in range(count):
            sums = [each + sign for each in sums for sign in (size, -size)]
    return sum(abs(each) >= least for each in sums) / len(sums)


def _draw_flips(sizes: Mapping[float, int], least: float, random: Random) -> float:
    """Some of them, drawn by chance; the one that was seen counts as one more."""
    singles = [size for size, count in sizes.items() if count == 1]
    several = [(size, count) for size, count in sizes.items() if count > 1]
    # A bit for each sign: a sum is that of all with a plus, twice, less that of all.
    tables = [_make_table(singles[at : at + _BITS]) for at in range(0, len(singles), _BITS)]
    every = sum(size * count for size, count in sizes.items())
    hits = 0
    for _ in range(_DRAWS):
        plus = 0.0
        if tables:
            bits = random.randbytes(len(tables))
            plus = sum([table[byte] for table, byte in zip(tables, bits, strict=True)])
        for size, count in several:
            plus += size * random.getrandbits(count).bit_count()
        hits += abs(2 * plus - every) >= least
    return (hits + 1) / (_DRAWS + 1)


def _make_table(values: list[float]) -> list[float]:
    """The sum of those values whose bit is set, for each byte."""
    sums = [0.0]
    for value in [*values, *[0.0] * (_BITS - len(values))]:
        sums += [each + value for each in sums]
    return sums
