"""The format, part 1.2: fields that it does not know, and the canonical form as a whole."""

from __future__ import annotations

import json

from tests.for_each import for_each
from tests.spec.found import only_problem, problems_of
from tests.spec.reading import case_of


@for_each("value", ["1", "null", "[{role: nobody}]", "{input: 5, a: {}}", "&a text"])
def test_x_fields_are_ignored_whatever_they_hold(value: str) -> None:
    """A place for anchors and for notes: it is nowhere in the canonical form."""
    text = f"- input: hi\n  x-: {value}\n  x-any.thing: {value}\n"
    assert problems_of(text.replace("&a", "&b", 1)) == []
    assert case_of(text) == case_of("- input: hi\n")


def test_x_fields_are_a_place_for_anchors() -> None:
    """What is anchored there can be used elsewhere."""
    text = "x-system: &system {role: system, content: Be brief}\ncases:\n  - input: [*system]\n"
    assert case_of(text)["input"] == [{"role": "system", "content": "Be brief"}]
    assert problems_of(text) == []


@for_each(
    ("name", "meant"),
    [
        ("expcted_output", "expected_output"),
        ("expected-output", "expected_output"),
        ("expectedOutput", "expected_output"),
        ("Input", "input"),
        ("inputs", "input"),
        ("input_mesages", "input"),
        ("critera", "criteria"),
        ("grader", "graders"),
        ("evaluator", "graders"),
        ("metdata", "metadata"),
        ("tag", "tags"),
        ("timeout", "timeout_s"),
        ("treshold", "threshold"),
    ],
)
def test_any_other_field_is_an_error_with_a_suggestion(name: str, meant: str) -> None:
    """A typing mistake never becomes a case that checks nothing; old names aren't suggested."""
    problem = only_problem(f"- {name}: x\n  input: hi\n")
    assert (problem.code, problem.severity) == ("unknown-field", "error")
    assert problem.span == (1, 3, 1, 3 + len(name))
    assert problem.hint == f"did you mean `{meant}`?"


def test_null_on_an_optional_field_counts_as_absent() -> None:
    """No field but `input` needs a value."""
    names = ["id", "expected_output", "description", "tags", "metadata", "skip", "conversation_id",
             "criteria", "rubrics", "graders", "suite_graders", "target", "targets", "repeat",
             "threshold", "timeout_s"]  # fmt: skip
    assert case_of(json.dumps({"input": "hi", **dict.fromkeys(names)})) == case_of("input: hi")


def test_canonical_form_of_a_case_has_all_fields_in_one_order() -> None:
    """Whatever the order they were written in."""
    written = {
        "timeout_s": 5, "threshold": 0.5, "repeat": 2, "target": "t", "graders": ["g"],
        "rubrics": ["r"], "criteria": "c", "conversation_id": "v", "skip": True,
        "metadata": {}, "tags": ["a"], "description": "d", "expected_output": 4, "input": "hi",
        "id": "i",
    }  # fmt: skip
    assert json.dumps(case_of(json.dumps(written))) == json.dumps({
        "id": "i",
        "input": [{"role": "user", "content": "hi"}],
        "expected_output": [{"role": "assistant", "content": 4}],
        "description": "d",
        "tags": ["a"],
        "metadata": {},
        "skip": True,
        "conversation_id": "v",
        "criteria": "c",
        "rubrics": [{"text": "r"}],
        "graders": [{"type": "g"}],
        "targets": ["t"],
        "repeat": {"times": 2},
        "threshold": 0.5,
        "timeout_s": 5,
    })  # fmt: skip
