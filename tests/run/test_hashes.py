from __future__ import annotations

import json
from typing import Any

import pytest
from evalcase.run.case_hash import hash_case

import evalcase

BASE: dict[str, Any] = {"id": "a", "input": "Hi", "expected_output": {"b": 1, "a": [1, "x"]}}


def hashed(**changes: Any) -> str:
    return hash_case(evalcase.parse_case(json.dumps({**BASE, **changes})))


def test_it_is_short_and_the_same_each_time() -> None:
    assert hashed() == hashed()
    assert len(hashed()) == 16
    assert int(hashed(), 16) >= 0


@pytest.mark.parametrize(
    "changes",
    [
        {"input": "Hi!"},
        {"input": [{"role": "system", "content": "x"}, {"role": "user", "content": "Hi"}]},
        {"expected_output": {"b": 1, "a": [1, "y"]}},
        {"expected_output": {"b": 1, "a": ["x", 1]}},
        {"expected_output": None},
        {"criteria": "It answers."},
        {"rubrics": ["short"]},
        {"graders": ["expected"]},
        {"threshold": 0.5},
        {"timeout_s": 3},
        {"metadata": {"k": 1}},
        {"conversation_id": "c"},
    ],
)
def test_what_can_change_a_result_changes_it(changes: dict[str, Any]) -> None:
    assert hashed(**changes) != hashed()


@pytest.mark.parametrize(
    "changes",
    [
        {"description": "Sums."},
        {"tags": ["new"]},
        {"target": "other"},
        {"repeat": 7},
        {"expected_output": {"a": [1, "x"], "b": 1}},
        {"x-note": 1},
    ],
)
def test_what_can_not_does_not(changes: dict[str, Any]) -> None:
    assert hashed(**changes) == hashed()


def test_text_beyond_ascii() -> None:
    assert hashed(input="é") != hashed(input="e\u0301")
    assert hashed(input="ß") == hashed(input="ß")
