"""A case as a target is shown it. What is expected of the answer is never part of that."""

from __future__ import annotations

import json
from typing import Any

from evalcase.errors import TargetError
from evalcase.model.case import Case
from evalcase.model.finding import Unfit
from evalcase.model.json_value import JSON
from evalcase.model.message import Message, text_of
from evalcase.model.trial import Trial
from evalcase.system.attachments import find_attachments


def last_user_content(case: Case) -> JSON:
    """What the last message of the user says. Raise TargetError if there is none."""
    return last_user(case.input, case).content


def last_user(messages: tuple[Message, ...], case: Case) -> Message:
    for message in reversed(messages):
        if message["role"] == "user":
            return message
    text = f"case `{case.id}` has no user message, and this target is given the last one only"
    raise TargetError(text, kind="protocol")


def content_text(content: JSON) -> str:
    """Content as text: parts as their joined text, other data as JSON, nothing as no text."""
    if content is None:
        return ""
    text = text_of(content)
    return text if text is not None else json.dumps(content, ensure_ascii=False)


def hidden(case: Case) -> str | None:
    """What to warn of where a target sees the last user message only; None if that is all."""
    roles = [message.role for message in case.input]
    if len(roles) < 2:
        return None
    return f"case `{case.id}` has {len(roles)} messages ({', '.join(dict.fromkeys(roles))})"


def request(trial: Trial) -> dict[str, Any]:
    """The JSON object that programs are given: always these keys."""
    case = trial.case
    return {
        "id": case.id,
        "input": [message.to_dict() for message in case.input],
        "metadata": case.metadata,
        "conversation_id": case.conversation_id,
        "repeat": trial.repeat,
        "files": files(trial),
    }


def files(trial: Trial) -> dict[str, str]:
    """The files that content refers to: where they are, by the names they were given.

    That they are there was checked before the run; one that has changed since is an error of the
    trial.
    """
    found = find_attachments(trial.suite, trial.case.input)
    if isinstance(found, Unfit):
        raise TargetError(found.message)
    return found
