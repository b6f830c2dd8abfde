"""A trial as the question that its target is asked."""

from __future__ import annotations

from evalcase.model.question import Question
from evalcase.model.trial import Trial


def question_of(trial: Trial, files: dict[str, str], session: str) -> Question:
    """What the target is given: nothing of what is expected is part of it."""
    case = trial.case
    return Question(
        case.input, case.id, trial.suite, trial.repeat, session=session,
        conversation_id=case.conversation_id, metadata=case.metadata, files=files,
    )  # fmt: skip
