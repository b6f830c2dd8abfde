"""A question as targets show it to whoever answers: as text, and as one JSON object."""

from __future__ import annotations

import json
from typing import Any

from evalcase.errors import TargetError
from evalcase.types.message import named_file, part_text, parts_of, text_of
from evalcase.types.question import Question
from evalcase.types.value import JSON


def last_user_content(question: Question) -> JSON:
    """What the last message of the user says. Raise TargetError if there is none."""
    message = question.last_user
    if message is None:
        why = "has no user message, and this target is given the last one only"
        raise TargetError(f"case `{question.case}` {why}", kind="protocol")
    return message.content


def write_content(content: JSON) -> str:
    """Content as text: parts as their joined text, other data as JSON, nothing as no text."""
    if content is None:
        return ""
    text = text_of(content)
    return text if text is not None else json.dumps(content, ensure_ascii=False)


def describe_hidden(question: Question) -> str | None:
    """What to warn of where a target sees the last user message only; None if that is all."""
    roles = [message.role for message in question.messages]
    if len(roles) < 2:
        return None
    given = f"{len(roles)} messages ({', '.join(dict.fromkeys(roles))})"
    return f"for case `{question.case}` it is given {given}"


def is_plain(question: Question) -> bool:
    """Whether the last user text is all there is to see."""
    messages = question.messages
    return len(messages) == 1 and type(messages[0].get("content")) is str


def describe_left_out(question: Question, with_files: bool) -> str | None:
    """What to warn of where a target sees the text of content parts only, and perhaps the files
    that they name; None if that is all."""
    message = question.last_user
    content = None if message is None else message.content
    kinds = {
        f"`{part['type']}`": None
        for part in (parts_of(content) if isinstance(content, list) else ())
        if part_text(part) is None and not (with_files and named_file(part) is not None)
    }
    return f"for case `{question.case}` it has parts of type {', '.join(kinds)}" if kinds else None


def describe_question(question: Question) -> dict[str, Any]:
    """The JSON object that programs and services are given: always these keys.

    `id` is what an answer is known by. Where there is one question at a time, that is the case.
    """
    return {
        "id": question.case,
        "suite": question.suite,
        "case": question.case,
        "input": [message.to_dict() for message in question.messages],
        "metadata": question.metadata,
        "conversation_id": question.conversation_id,
        "repeat": question.repeat,
        "attempt": question.attempt,
        "session": question.session,
        "turn": question.turn,
        "files": question.files,
    }
