"""Answers with so much in them that to compare it takes seconds."""

import json
from typing import Any

import pytest

from tests.run.project import Project, case

AGENT = """
import json

def answer(question):
    if question == "calls":
        calls = [{"tool": "t", "input": {"n": n}} for n in range(400)]
        return {"messages": [{"role": "assistant", "content": None, "tool_calls": calls}]}
    if question == "list":
        return json.dumps(list(range(900)))
    return "ok"
"""
EXPECTED = [{"tool": "t", "input": {"n": -n}} for n in range(1, 401)]
LIST = json.dumps([f"{number}" for number in range(900)])
GRADERS: dict[str, tuple[str, dict[str, Any]]] = {
    "in order": ("calls", {"type": "trajectory", "value": EXPECTED}),
    "any order": ("calls", {"type": "trajectory", "value": EXPECTED, "order": "any_order"}),
    "lists": (
        "list",
        {"type": "json_equals", "value": json.loads(LIST), "unordered": True, "within": 0.5},
    ),
}


@pytest.mark.parametrize("name", GRADERS)
def test_fault_44_a_long_comparison_is_ended_by_its_limit(project: Project, name: str) -> None:
    (project.path / "many.py").write_text(AGENT)
    text, grader = GRADERS[name]
    long = case("long", graders=[{**grader, "timeout_s": 0.01}], target="python:many:answer")
    project.suite({**long, "input": text, "expected_output": None}, case("well"))
    done = project.run("run", "--json")
    assert (done.code, done.counts()) == (3, {"passed": 1, "errored": 1})
    assert "returned no grade within 0.01 s" in str(project.rows())


NODE = {"$ref": "#/$defs/node"}
TREE = {**NODE, "$defs": {"node": {"oneOf": [
    {"type": "string"},
    {"type": "object", "properties": {"a": NODE}, "additionalProperties": False},
    {"type": "object", "properties": {"a": NODE}, "required": ["b"]},
]}}}  # fmt: skip


def test_fault_44_what_is_nested_takes_no_longer_than_it_is_large(project: Project) -> None:
    table = [{"id": n, "tags": [f"{n} {m}" for m in range(60)]} for n in range(60)]
    turned = [{"id": row["id"], "tags": row["tags"][::-1]} for row in reversed(table)]  # type: ignore[index]
    graders: dict[str, dict[str, Any]] = {
        "lists": {"type": "json_equals", "value": table, "unordered": True},
        "tree": {"type": "json_schema", "value": TREE},
    }
    said = {"lists": json.dumps(turned), "tree": '{"a": ' * 60 + '"x"' + "}" * 60}
    project.suite(*[
        {"id": name, "input": f"say {said[name]}", "graders": [{**grader, "timeout_s": 60}]}
        for name, grader in graders.items()
    ])  # fmt: skip
    project.run("run", "--json")
    assert project.verdicts() == {"lists": "passed", "tree": "passed"}
