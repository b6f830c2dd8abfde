from __future__ import annotations

from evalcase.runner.pacing import Limits


def test_a_target_has_its_own_bound_within_that_of_all() -> None:
    limits = Limits(concurrency=4, per_target={"few": 2, "many": 50})
    assert [limits.of_target(name) for name in ("few", "many", "other")] == [2, 4, 4]
    assert Limits(concurrency=3).of_target("any") == 3
