from __future__ import annotations

from msgspec.structs import fields

from evalcase.runner.trials import question_of
from evalcase.types.case import Case
from evalcase.types.message import Message
from evalcase.types.question import Question
from evalcase.types.result import Trial
from tests.targets.trials import trial


def test_a_question_has_all_of_a_trial_but_what_is_expected() -> None:
    given = trial(
        "Hi", suite="s.eval.yaml", id="x", repeat=2, metadata={"k": [1]}, conversation_id="c",
        expected_output=[{"role": "assistant", "content": "secret"}], criteria="secret",
        graders=[{"type": "equals", "value": "secret"}], rubrics=[{"text": "secret"}],
        tags=["t"], threshold=0.5,
    )  # fmt: skip
    question = question_of(given, {"a.txt": "/p/a.txt"}, "s1", "h")
    assert question == Question(
        (Message({"role": "user", "content": "Hi"}),), case="x", suite="s.eval.yaml", repeat=2,
        attempt=1, session="s1", turn=1, conversation_id="c", metadata={"k": [1]},
        files={"a.txt": "/p/a.txt"}, schema=None, hash="h",
    )  # fmt: skip
    assert "secret" not in repr(question)
    assert not any(isinstance(getattr(question, f.name), Case | Trial) for f in fields(question))


def test_it_shares_nothing_with_its_case() -> None:
    given = trial([{"role": "user", "content": {"k": []}}], metadata={"k": []})
    question = question_of(given, {}, "s", "")
    content = question.messages[0].content
    assert isinstance(content, dict)
    content["k"] = [1]
    question.metadata["k"] = [1]
    assert given.case.to_dict()["input"][0]["content"] == given.case.metadata == {"k": []}
