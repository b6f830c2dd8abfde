from __future__ import annotations

from typing import Any

from evalcase.runner.select import plan_trials
from evalcase.types.case import Case, canonical_case

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


def test_a_case_whose_one_trial_stands_makes_none() -> None:
    """Those of other cases keep their numbers, and nobody is asked of a case with several."""
    pairs = [pair("a"), pair("b"), pair("c", repeat={"times": 2}), pair("d", targets=["other"])]
    looked_at: list[tuple[str, str, str]] = []

    def stands(suite: str, case: Case, target: str) -> bool:
        looked_at.append((suite, case.id, target))
        return case.id != "b"

    trials = plan_trials(pairs, "t", "t", None, False, stands=stands)
    assert [(each.case.id, each.number) for each in trials] == [("b", 1), ("c", 2), ("c", 2)]
    assert looked_at == [("s.eval.yaml", "a", "t"), ("s.eval.yaml", "b", "t")]
