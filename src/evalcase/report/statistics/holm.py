"""Several tests at once: of twenty that find nothing, one is below 0.05 by chance."""

from __future__ import annotations

from collections.abc import Sequence


def adjust_p_values(values: Sequence[float]) -> list[float]:
    """Each p made larger after Holm (1979), so that all of them together are wrong in at most as
    many of a hundred comparisons as one alone would be."""
    order = sorted(range(len(values)), key=values.__getitem__)
    adjusted, highest = [0.0] * len(values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[at]))
        adjusted[at] = highest
    return adjusted
