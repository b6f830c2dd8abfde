"""Gates that go by scores: a case that has none is never passed over in silence."""

from typing import Any

import pytest

from evalcase.report.compare import compare_sides
from evalcase.report.evaluated import pair_targets
from evalcase.report.gates import GateFinding, Measure, find_gated, judge_gates, read_gate
from tests.report.compare.fakes import side

SCORE: dict[str, Any] = {"measure": "score"}
GRADER: dict[str, Any] = {"graders": ("expected",)}


def judge(
    base: str, head: str, gate: str, *, measure: Measure | None = None,
    graders: tuple[str, ...] = (), scores: dict[str, float] | None = None,
) -> list[GateFinding]:  # fmt: skip
    """What is said of a gate where any number of errors is allowed."""
    one, other = side(base), side(head, scores=scores or {})
    comparison = compare_sides(one, other, pair_targets(one.stored.targets, other.stored.targets))
    gated = find_gated(comparison, measure, graders)
    return judge_gates(comparison, gated, [read_gate(gate)], max_errors=99)


@pytest.mark.parametrize("by", [SCORE, GRADER])
def test_a_case_that_passed_and_has_no_score_in_head_is_broken(by: dict[str, Any]) -> None:
    (found,) = judge("PPP", "PPE", "broken", **by)
    assert (found.code, found.reason) == (1, "1 case is broken")


def test_a_case_that_passes_with_a_lower_score_is_told_apart_from_a_broken_one() -> None:
    (found,) = judge("PPP", "PPP", "broken", measure="score", scores={"c2": 0.9})
    assert (found.code, found.reason) == (1, "1 case is lower in head by all graders")


def test_where_no_case_has_a_score_nothing_is_decided() -> None:
    nothing, found = judge("EE", "EE", "broken", **SCORE)
    assert (nothing.code, nothing.gate) == (3, "")
    assert (found.code, found.reason) == (3, "no case has a score by all graders in both")


@pytest.mark.parametrize("by", [SCORE, GRADER])
@pytest.mark.parametrize("gate", ["worse", "worse-than:0.5", "significantly-worse"])
def test_lost_scores_leave_a_gate_open(gate: str, by: dict[str, Any]) -> None:
    (found,) = judge("P" * 40, "P" * 20 + "E" * 20, gate, **by)
    name = "`expected`" if by is GRADER else "all graders"
    assert found.code == 3
    assert found.reason == f"20 cases with a score by {name} in base lack one in head"
