from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import fields

from evalcase import Case, evaluate
from evalcase.testing import ScriptedTarget
from evalcase.types.result import Trial


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
