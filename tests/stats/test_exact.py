from __future__ import annotations

import pytest

from evalcase.stats.intervals import bound_unseen, estimate_exact_around, estimate_share
from tests.for_each import for_each

NEWCOMBE_1998 = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]
"""His table of four examples: by Wilson, and by Clopper and Pearson."""


@for_each(("hits", "total", "wilson", "exact"), NEWCOMBE_1998)
def test_the_examples_of_newcombe(
    hits: int, total: int, wilson: tuple[float, float], exact: tuple[float, float]
) -> None:
    for found, published in (
        (estimate_share(hits, total), wilson), (estimate_exact_around(hits / total, total), exact)
    ):  # fmt: skip
        assert found is not None
        assert (round(found.low, 4), round(found.high, 4)) == published


@for_each(("total", "bound"), [(1, 0.95), (10, 0.2589), (60, 0.0487), (300, 0.0099)])
def test_no_failure_is_no_proof(total: int, bound: float) -> None:
    assert bound_unseen(total) == pytest.approx(bound, abs=5e-5)
