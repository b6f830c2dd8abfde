"""Answers that no grader may pass, each with one that had passed it, or would easily."""

import json
from typing import Any

import pytest

from tests.run.project import Project

SECRETS = {"type": "contains", "value": "secret", "not": True}


def verdicts(project: Project, **cases: tuple[str, Any]) -> dict[str, str]:
    """What comes of answers, by the names of the cases, each graded by one grader."""
    project.suite(*[
        {"id": name, "input": f"say {said}", "graders": [grader]}
        for name, (said, grader) in cases.items()
    ])  # fmt: skip
    project.run("run", "--json")
    return project.verdicts()


def test_fault_45_what_can_not_be_looked_at_fails_also_with_not(project: Project) -> None:
    found = verdicts(
        project,
        prose=("the secret is here", {**SECRETS, "path": "reply"}),
        elsewhere=('{"note": "secret"}', {**SECRETS, "path": "reply"}),
        empty=('{"replies": []}', {**SECRETS, "path": "replies.*"}),
        null=('{"reply": null}', {**SECRETS, "path": "reply"}),
        inside=("the secret is here", {"type": "any", "not": True, "value": [
            {"type": "contains", "value": "secret", "path": "reply"},
        ]}),
        schema=("no JSON", {"type": "json_schema", "value": {"type": "object"}, "not": True}),
    )  # fmt: skip
    assert found == dict.fromkeys(found, "failed")
    assert len(found) == 6


def other_than(**fields: Any) -> dict[str, Any]:
    return {"type": "fields", "value": fields, "not": True}


def test_fault_45_a_field_that_is_not_there_is_not_something_else(project: Project) -> None:
    found = verdicts(
        project,
        missing=("{}", other_than(status="refunded")),
        one_of_two=('{"a": 1}', other_than(a=1, b=2)),
        no_item=('{"items": []}', other_than(**{"items.*.id": 1})),
        one_item=('{"items": [{"id": 1}, {}]}', other_than(**{"items.*.id": 1})),
        no_text=('{"reply": null}', other_than(reply={"contains": "secret"})),
        no_pattern=('{"reply": 5}', other_than(reply={"regex": "secret"})),
        no_length=('{"reply": 5}', other_than(reply={"length": {"max": 3}})),
        needed=("{}", other_than(a={"equals": 5, "required": True, "weight": 0}, b=1)),
        inside=("{}", {"type": "any", "not": True, "value": [{"fields": {"status": "refunded"}}]}),
    )  # fmt: skip
    assert found == dict.fromkeys(found, "failed")


def test_fault_45_every_part_has_to_pass_by_itself(project: Project) -> None:
    required = {"a": {"equals": 1, "required": True}, "b": 2, "c": 3}
    found = verdicts(
        project,
        one_has_it=('{"items": ["secret", "ok"]}', {**SECRETS, "path": "items.*"}),
        one_lacks_what_is_required=(
            '{"items": [{"a": 1, "b": 0, "c": 0}, {"a": 0, "b": 2, "c": 3}]}',
            {"type": "fields", "path": "items.*", "threshold": 0.3, "value": required},
        ),
    )
    assert found == dict.fromkeys(found, "failed")


def test_fault_45_no_value_is_taken_for_another(project: Project) -> None:
    found = verdicts(
        project,
        number=('{"n": 5}', {"type": "equals", "value": "5", "path": "n"}),
        null=('{"n": null}', {"type": "length", "max": 10, "path": "n"}),
        flag=('{"n": true}', {"type": "one_of", "value": ["true"], "path": "n"}),
    )
    assert found == dict.fromkeys(found, "failed")


AGENT = """
import json

def answer(messages):
    return {"messages": json.loads(messages[-1]["content"])}
"""
CALL = {"role": "assistant", "tool_calls": [{"tool": "find", "input": {"n": 1}}]}
RIGHT, WRONG = ({"role": "assistant", "content": text} for text in ("RIGHT", "WRONG"))


def test_fault_45_nothing_that_is_expected_goes_unchecked(project: Project) -> None:
    (project.path / "repeat.py").write_text(AGENT)
    said: dict[str, tuple[list[Any], Any]] = {
        "text": ([CALL, WRONG], "trajectory"),
        "calls": ([RIGHT], {"type": "similarity", "threshold": 0.9}),
        "well": ([CALL, RIGHT], "trajectory"),
        "also": ([CALL, RIGHT], {"type": "similarity", "threshold": 0.9}),
    }
    project.suite(
        *[
            {"id": name, "input": json.dumps(messages), "graders": [grader],
             "expected_output": [CALL, RIGHT]}
            for name, (messages, grader) in said.items()
        ],
        target="python:repeat:answer",
    )  # fmt: skip
    project.run("run", "--json")
    passed = {"well": "passed", "also": "passed"}
    assert project.verdicts() == {"text": "failed", "calls": "failed", **passed}


@pytest.mark.parametrize("times", [1, 3])
def test_fault_45_a_pass_rate_of_0_lets_no_answer_fail_but_needs_a_verdict(
    project: Project, times: int
) -> None:
    lax = {"times": times, "pass_rate": 0}
    failed = {"id": "failed", "input": "say x", "expected_output": "y", "repeat": lax}
    project.suite(failed)
    done = project.run("run", "--fail-fast", "--json")
    assert (done.code, done.counts(), done.trials()) == (0, {"passed": 1}, {"failed": times})
    assert done.json["figures"]["all"]["rate"] == 1.0
    assert project.run("resume", "latest").code == 0
    assert "1 passed" in project.run("report").out
    for form in ("json", "jsonl", "junit", "markdown", "csv"):
        assert project.run("report", "--format", form).code == 0
    assert json.loads(project.run("list", "--json").out)[0]["passed"] == 1
    errored = {"id": "errored", "input": "raise x", "expected_output": "y", "repeat": lax}
    project.suite(failed, errored, {"id": "ungraded", "input": "say x", "repeat": lax})
    done = project.run("run", "--json")
    assert (done.code, done.counts()) == (3, {"passed": 1, "errored": 1, "ungraded": 1})
