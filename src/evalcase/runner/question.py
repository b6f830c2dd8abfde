"""A trial to the question that its target is asked: all but what is expected of the answer."""

from __future__ import annotations

from collections.abc import Mapping

from evalcase.types.question import Question
from evalcase.types.result import Trial


def question_of(trial: Trial, files: Mapping[str, str], session: str, hash: str) -> Question:
    """The question of a trial. `files` are those that its messages name, by those names."""
    suite, case, _, repeat, _, _ = trial
    data = case._data
    return Question(
        case.input, data["id"], suite, repeat, 1, session, 1, data.get("conversation_id"),
        case.metadata if "metadata" in data else {}, dict(files) if files else {}, None, hash,
    )  # fmt: skip
