"""A case as a target is shown it. What is expected of the answer is never part of that."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from evalcase.errors import TargetError
from evalcase.model.case import Case
from evalcase.model.json_value import JSON
from evalcase.model.message import Message, is_part, text_of
from evalcase.model.trial import Trial


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
    """The files that content refers to: where they are, by the names they were given."""
    folder = os.path.dirname(os.path.realpath(trial.suite))
    return {name: find_file(name, folder) for name in _file_names(trial.case.input)}


def _file_names(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        content = message.content
        if not isinstance(content, list) or not all(map(is_part, content)):
            continue
        for part in content:
            if isinstance(part, dict) and part["type"] in ("file", "image"):
                # What an image has as its value may be the picture itself.
                value = part.get("value") if part["type"] == "file" else None
                name = part.get("path", value)
                if isinstance(name, str) and name:
                    yield name


def find_file(name: str, folder: str) -> str:
    """The nearest file of that name upwards. That it lies in the project was checked before."""
    nearest = os.path.join(folder, name)
    while not os.path.lexists(os.path.join(folder, name)):
        if folder == os.path.dirname(folder):
            return nearest
        folder = os.path.dirname(folder)
    return os.path.join(folder, name)
