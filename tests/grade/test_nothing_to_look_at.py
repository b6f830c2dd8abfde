"""Where there is no text to look at, `not` makes no pass of it, whatever grades text."""

from typing import Any

import pytest

import evalcase
from evalcase import Case
from tests.graders.expectation import answer_of, context_of
from tests.graders.rows import grade_by

OF_TEXT: dict[str, dict[str, Any]] = {
    "contains": {"value": "secret"},
    "starts_with": {"value": "the"},
    "ends_with": {"value": "secret"},
    "regex": {"value": "secr.t"},
    "one_of": {"value": ["the secret"]},
    "equals": {"value": "the secret"},
    "length": {"max": 3},
    "similarity": {"value": "the secret", "threshold": 0.5},
    "expected": {},
}
SILENT: dict[str, Any] = {
    "null": {"role": "assistant", "content": None, "tool_calls": [{"tool": "f"}]},
    "user": {"role": "user", "content": "the secret"},
    "image": {"role": "assistant", "content": [{"type": "image", "url": "the secret"}]},
    "unknown": {"role": "assistant", "content": [{"type": "answer", "text": "the secret"}]},
}
SAID: dict[str, Any] = {
    "output_text": [{"type": "output_text", "text": "the secret", "annotations": []}],
    "refusal": [{"type": "refusal", "refusal": "the secret"}],
    "text": [{"type": "text", "value": "the secret"}],
    "several": [{"type": "output_text", "text": "the "}, {"type": "refusal", "refusal": "secret"}],
}


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("silent", SILENT)
@pytest.mark.parametrize("name", OF_TEXT)
def test_no_text_fails_turned_round_or_not(name: str, silent: str, negated: bool) -> None:
    spec = {"type": name, **OF_TEXT[name], "not": negated}
    grade = grade_by(spec, context_of(answer_of(SILENT[silent]), expected_output="the secret"))
    assert (grade.passed, grade.failure) == (False, None)
    assert "no text" in grade.reason


@pytest.mark.parametrize("content", SAID)
@pytest.mark.parametrize("name", [name for name in OF_TEXT if name != "length"])
def test_what_was_said_is_found_in_parts(name: str, content: str) -> None:
    said = answer_of({"role": "assistant", "content": SAID[content]})
    context = context_of(said, expected_output="the secret")
    assert grade_by({"type": name, **OF_TEXT[name]}, context).passed
    assert not grade_by({"type": name, **OF_TEXT[name], "not": True}, context).passed


@pytest.mark.parametrize(
    "spec", [{"type": "contains", "value": "x", "path": "a"}, {"type": "json"}]
)
def test_no_json_to_look_at_fails_as_well(spec: dict[str, Any]) -> None:
    context = context_of(answer_of({"role": "user", "content": '{"a": "x"}'}))
    assert not grade_by({**spec, "not": True}, context).passed


@pytest.mark.parametrize("silent", [*SILENT, "words"])
def test_data_that_is_expected_is_not_turned_round_where_there_is_none(silent: str) -> None:
    said = SILENT.get(silent, {"role": "assistant", "content": "no idea"})
    context = context_of(answer_of(said), expected_output={"a": 1})
    grade = grade_by({"type": "expected", "not": True}, context)
    # Parts of a kind that nobody knows are data, and other data than what is expected.
    assert grade.passed is (silent in ("image", "unknown"))


@pytest.mark.parametrize("type_", ["text", "output_text"])
def test_a_text_part_without_a_text_is_an_error_of_the_answer(type_: str) -> None:
    grader: Any = {"type": "contains", "value": "secret", "not": True}
    said = [{"role": "assistant", "content": [{"type": type_, "content": "the secret"}]}]
    done = evalcase.evaluate([Case(id="a", input="?", graders=[grader])], lambda _: said)
    (result,) = done.results
    assert result.verdict == "errored"
    assert result.failure is not None
    assert "a text part without a text" in result.failure.message
