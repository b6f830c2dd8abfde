from __future__ import annotations

from typing import Any

from evalcase.model.case import Case, canonical_case
from evalcase.run.plan import plan_trials

Pair = tuple[str, Case]


def pair(id: str, suite: str = "s.eval.yaml", **fields: Any) -> Pair:
    return suite, canonical_case({"id": id, "input": [{"role": "user", "content": "Hi"}], **fields})


def test_cases_of_the_target_or_of_the_default() -> None:
    pairs = [pair("none"), pair("own", targets=["b"]), pair("both", targets=["a", "b"])]

    def planned(target: str, overridden: bool = False) -> list[str]:
        return [each.case.id for each in plan_trials(pairs, target, "a", None, overridden)]

    assert planned("a") == ["none", "both"]
    assert planned("b") == ["own", "both"]
    assert planned("c") == []
    assert planned("c", overridden=True) == ["none", "own", "both"]


def test_repeats_count_from_one_and_a_skipped_case_is_planned_once() -> None:
    pairs = [pair("a", repeat={"times": 2}), pair("b"), pair("c", skip="why", repeat={"times": 9})]
    trials = [(each.case.id, each.repeat) for each in plan_trials(pairs, "t", "t", None, False)]
    assert trials == [("a", 1), ("a", 2), ("b", 1), ("c", 1)]
    trials = [(each.case.id, each.repeat) for each in plan_trials(pairs, "t", "t", 1, False)]
    assert trials == [("a", 1), ("b", 1), ("c", 1)]
