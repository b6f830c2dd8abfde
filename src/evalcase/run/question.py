"""A trial to the question that its target is asked: all but what is expected of the answer."""

from __future__ import annotations

from collections.abc import Mapping

from evalcase.model.question import Question
from evalcase.model.trial import Trial


def question_of(trial: Trial, files: Mapping[str, str], session: str) -> Question:
    """The question of a trial. `files` are those that its messages name, by those names."""
    case = trial.case
    return Question(
        case.input, case.id, trial.suite, trial.repeat, 1, session, 1, case.conversation_id,
        case.metadata, dict(files) if files else {},
    )  # fmt: skip
