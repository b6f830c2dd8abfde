from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from evalcase.model.case import Case
from evalcase.model.message import Message
from evalcase.model.question import Question
from evalcase.model.trial import Trial
from evalcase.run.question import find_files, question_of
from tests.targets.trials import trial


def with_parts(*parts: dict[str, object]) -> tuple[Message, ...]:
    return (Message({"role": "user", "content": list(parts)}),)


def test_a_question_has_all_of_a_trial_but_what_is_expected() -> None:
    given = trial(
        "Hi", suite="s.eval.yaml", id="x", repeat=2, metadata={"k": [1]}, conversation_id="c",
        expected_output=[{"role": "assistant", "content": "secret"}], criteria="secret",
        graders=[{"type": "equals", "value": "secret"}], rubrics=[{"text": "secret"}],
        tags=["t"], threshold=0.5,
    )  # fmt: skip
    question = question_of(given, {"a.txt": "/p/a.txt"}, "s1")
    assert question == Question(
        (Message({"role": "user", "content": "Hi"}),), case="x", suite="s.eval.yaml", repeat=2,
        attempt=1, session="s1", turn=1, conversation_id="c", metadata={"k": [1]},
        files={"a.txt": "/p/a.txt"}, schema=None,
    )  # fmt: skip
    assert "secret" not in repr(question)
    assert not any(isinstance(getattr(question, f.name), Case | Trial) for f in fields(question))


def test_it_shares_nothing_with_its_case() -> None:
    given = trial([{"role": "user", "content": {"k": []}}], metadata={"k": []})
    question = question_of(given, {}, "s")
    content = question.messages[0].content
    assert isinstance(content, dict)
    content["k"] = [1]
    question.metadata["k"] = [1]
    assert given.case.to_dict()["input"][0]["content"] == given.case.metadata == {"k": []}


def test_files_are_found_from_the_suite_upwards(tmp_path: Path) -> None:
    folder = tmp_path / "evals" / "deep"
    folder.mkdir(parents=True)
    for path in (tmp_path / "a.txt", tmp_path / "evals" / "a.txt", tmp_path / "b.png"):
        path.write_text("x")
    messages = with_parts(
        {"type": "file", "path": "a.txt"}, {"type": "image", "path": "b.png"},
        {"type": "text", "text": "a.txt"}, {"type": "file", "value": "none.txt"},
    )  # fmt: skip
    assert find_files(messages, str(folder)) == {
        "a.txt": str(tmp_path / "evals" / "a.txt"),
        "b.png": str(tmp_path / "b.png"),
        "none.txt": str(folder / "none.txt"),
    }


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "value": "iVBORw0KGgo="},
        {"type": "image", "value": "x" * 5000},
        {"type": "image", "url": "https://example.com/a.png"},
        {"type": "image", "path": "https://example.com/a.png"},
        {"type": "image", "value": "data:image/png;base64,AAAA"},
        {"type": "file", "path": ""},
        {"type": "file", "path": 3},
        {"type": "audio", "path": "a.wav"},
    ],
)
def test_what_names_no_file_is_none(tmp_path: Path, part: dict[str, object]) -> None:
    assert find_files(with_parts(part), str(tmp_path)) == {}


def test_the_value_of_an_image_is_a_file_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("x")
    messages = with_parts({"type": "image", "value": "a.png"})
    assert find_files(messages, str(tmp_path)) == {"a.png": str(tmp_path / "a.png")}
