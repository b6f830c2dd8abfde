import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

import evalcase
from evalcase import Case, evaluate
from evalcase.runner.hashes import hash_grading, hash_question
from evalcase.testing import ScriptedTarget
from evalcase.types.result import Trial
from tests.for_each import for_each

BASE: dict[str, Any] = {"id": "a", "input": "Hi", "expected_output": {"b": 1, "a": [1, "x"]}}


def hashed(**changes: Any) -> tuple[str, str]:
    case = evalcase.parse_case(json.dumps({**BASE, **changes}))
    return hash_question(case), hash_grading(case)


def test_they_are_short_and_the_same_each_time() -> None:
    for first, again in zip(hashed(), hashed(), strict=True):
        assert first == again
        assert len(first) == 16
        assert int(first, 16) >= 0


@for_each(
    "changes",
    [
        {"input": "Hi!"},
        {"input": [{"role": "system", "content": "x"}, {"role": "user", "content": "Hi"}]},
        {"metadata": {"k": 1}},
        {"conversation_id": "c"},
    ],
)
def test_what_a_target_is_given_changes_the_question(changes: dict[str, Any]) -> None:
    assert hashed(**changes)[0] != hashed()[0]
    assert hashed(**changes)[1] == hashed()[1]


@for_each(
    "changes",
    [
        {"expected_output": {"b": 1, "a": [1, "y"]}},
        {"expected_output": {"b": 1, "a": ["x", 1]}},
        {"expected_output": None},
        {"criteria": "It answers."},
        {"rubrics": ["short"]},
        {"graders": ["expected"]},
        {"threshold": 0.5},
    ],
)
def test_what_a_verdict_rests_on_changes_the_grading_and_asks_nobody(
    changes: dict[str, Any],
) -> None:
    assert hashed(**changes)[0] == hashed()[0]
    assert hashed(**changes)[1] != hashed()[1]


@for_each(
    "changes",
    [
        {"description": "Sums."},
        {"tags": ["new"]},
        {"target": "other"},
        {"repeat": 7},
        {"timeout_s": 3},
        {"expected_output": {"a": [1, "x"], "b": 1}},
        {"x-note": 1},
    ],
)
def test_what_changes_neither_changes_neither(changes: dict[str, Any]) -> None:
    assert hashed(**changes) == hashed()


# Question


def test_a_question_has_all_of_a_case_but_what_is_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = Case(
        id="x", input=[{"role": "user", "content": {"k": []}}], metadata={"k": [1]},
        conversation_id="c", expected_output="secret",
        graders=[{"equals": "secret"}], tags=["t"], repeat=2,
    )  # fmt: skip
    target = ScriptedTarget(["a", "b"])
    evaluate(case, target, concurrency=1)
    first, second = target.asked
    assert (first.case, first.repeat, second.repeat, first.attempt, first.turn) == ("x", 1, 2, 1, 1)
    assert (first.metadata, first.conversation_id) == ({"k": [1]}, "c")
    assert first.session != second.session
    assert "secret" not in repr(first)
    assert not any(isinstance(getattr(first, f.name), Case | Trial) for f in fields(first))
    content = first.messages[0].content
    assert isinstance(content, dict)
    content["k"] = first.metadata["k"] = [2]
    assert case.to_dict()["input"][0]["content"] == {"k": []}
    assert second.metadata == {"k": [1]}
