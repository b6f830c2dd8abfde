"""What no check has refused is refused where it is made, too."""

import json

import pytest

from tests.run.project import Project

ADDRESS = "http:http://127.0.0.1:9/answer"


@pytest.mark.parametrize(
    "fields",
    [
        {"input": "hi", "target": ADDRESS},
        {"input": "hi", "target": "replay:../answers.jsonl"},
        {"user": {"target": ADDRESS, "goal": "A refund.", "max_turns": 2}, "target": "echo"},
    ],
    ids=json.dumps,
)
def test_where_a_suite_leads_is_looked_at_again_when_targets_are_made(
    project: Project, monkeypatch: pytest.MonkeyPatch, fields: dict[str, object]
) -> None:
    project.suite({"id": "a", "graders": ["json"], **fields})
    first = project.run("run")
    assert (first.code, project.runs()) == (2, [])
    monkeypatch.setattr("evalcase.runner.plan.check_plan", lambda *_: [])
    second = project.run("run")
    assert (second.code, project.runs()) == (2, [])
    reasons = "carries an address", "is outside the project"
    assert any(reason in " ".join(second.err.split()) for reason in reasons), second.err
