"""The example that each grader shows is valid, and passes for the answer that it is about."""

import json
from typing import Any

from evalcase.config.catalogue import Catalogue
from evalcase.config.registry import find_class, list_names
from evalcase.format.load import load_case
from evalcase.graders.base import Context, declared_grader
from evalcase.types.answer import Answer, Usage
from evalcase.types.message import Message
from evalcase.types.target import Question
from tests.for_each import for_each
from tests.graders.rows import grade_by


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


PASSING: dict[str, dict[str, Any]] = {
    "equals": said("Paris"),
    "contains": said("It is in Paris, the capital of France."),
    "starts_with": said("Dear Ann"),
    "ends_with": said("That is all."),
    "regex": said("on 2026-03-01"),
    "one_of": said("Yes"),
    "length": said("few words"),
    "similarity": said("The capital of Peru is Lima!"),
    "json": said("[1]"),
    "json_schema": said('{"riskLevel": 1}'),
    "json_equals": said(json.dumps({"total": 10.001, "id": 7})),
    "fields": said(json.dumps({"riskLevel": "High", "score": 0.92})),
    "trajectory": said(None, tool_calls=[{"tool": "search", "input": {"q": "Peru"}},
                                         {"tool": "answer"}]),
    "tool_calls": said(None, tool_calls=[{"tool": "search"}]),
    "latency": said("quick"),
    "cost": said("cheap"),
    "tokens": said("short"),
    "turns": said("short"),
    "finish": said("done", finish_reason="stop"),
    "skill_used": said("done", tool_calls=[{"tool": "Skill", "input": {"skill": "csv"}}]),
}  # fmt: skip
ELSEWHERE = {
    "expected", "python", "script", "judge", "all", "any", "at_least", "weighted",
    "run", "files", "diff",
}  # fmt: skip
"""They have no example, or one that names what a project has: functions, programs, a judge, a
workspace."""


def test_there_is_an_answer_for_each_example() -> None:
    assert PASSING.keys() == set(list_names("graders")) - ELSEWHERE


@for_each("name", PASSING)
def test_the_example_passes(name: str) -> None:
    example = declared_grader(find_class("graders", name)).kind.example
    case, problems = load_case(f"input: '?'\ngraders:\n{example}\n", Catalogue())
    assert problems == []
    assert case is not None
    answer = Answer((Message(PASSING[name]),), Usage(10, 10), 0.001)
    context = Context(case, Question(case.input), answer, duration_s=0.5)
    for spec in case.to_dict()["graders"]:
        grade = grade_by(spec, context)
        assert grade.passed, grade.reason
