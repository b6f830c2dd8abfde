"""A trial to the question that its target is asked: all but what is expected of the answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from evalcase.model.message import Message, named_files
from evalcase.model.question import Question
from evalcase.model.trial import Trial


def question_of(trial: Trial, files: Mapping[str, str], session: str) -> Question:
    """The question of a trial. `files` are those that its messages name, see `find_files`."""
    case = trial.case
    return Question(
        case.input,
        case=case.id,
        suite=trial.suite,
        repeat=trial.repeat,
        session=session,
        conversation_id=case.conversation_id,
        metadata=case.metadata,
        files=dict(files),
    )


def find_files(messages: Iterable[Message], folder: str) -> dict[str, str]:
    """Where the files are that messages name, by those names. `folder` is that of the suite."""
    found: dict[str, str] = {}
    for name, is_certain in named_files(messages):
        path = _find_upwards(name, folder)
        if path is not None:
            found[name] = path
        elif is_certain:
            # Whoever opens it says that it isn't there.
            found[name] = os.path.join(folder, name)
    return found


def _find_upwards(name: str, folder: str) -> str | None:
    """The nearest file of that name. That it lies in the project was checked before."""
    while not os.path.lexists(os.path.join(folder, name)):
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    return os.path.join(folder, name)
