from __future__ import annotations

import pytest

from evalcase.report.statistics.exact import bound_unseen, estimate_exact
from evalcase.report.statistics.wilson import estimate_share


def test_it_is_wider_than_wilson() -> None:
    for hits in range(41):
        exact, wilson = estimate_exact(hits, 40), estimate_share(hits, 40)
        assert exact is not None
        assert wilson is not None
        assert exact.width > wilson.width


def test_nothing_has_no_share() -> None:
    assert estimate_exact(0, 0) is None


@pytest.mark.parametrize(("total", "bound"), [(1, 0.95), (10, 0.2589), (60, 0.0487), (300, 0.0099)])
def test_no_failure_is_no_proof(total: int, bound: float) -> None:
    assert bound_unseen(total) == pytest.approx(bound, abs=5e-5)
