"""Keep the record small: cut what is too long, and say how much is gone."""

from __future__ import annotations

import json
from dataclasses import replace

from evalcase.model.answer import Answer
from evalcase.model.message import Message


def cap_answer(answer: Answer, limit: int) -> Answer:
    """An answer whose messages have at most `limit` bytes each, marked where one was cut."""
    messages = tuple([_capped(message, limit) for message in answer.messages])
    if all(new is old for new, old in zip(messages, answer.messages, strict=True)):
        return answer
    return replace(answer, messages=messages, truncated=True)


def _capped(message: Message, limit: int) -> Message:
    content = message.get("content")
    if isinstance(content, str) and len(message) == 2:
        text, cut = cap_text(content, limit)
        return Message({"role": message["role"], "content": text}) if cut else message
    text, cut = cap_text(json.dumps(message, ensure_ascii=False), limit)
    # Data can't be cut and stay data: what is left of it is text.
    return Message({"role": message["role"], "content": text}) if cut else message


def cap_text(text: str, limit: int) -> tuple[str, bool]:
    """The first `limit` bytes of a text as UTF-8, cut between characters, with a mark that says
    how many more there were; and whether anything was cut."""
    if len(text) * 4 <= limit:  # no character takes more
        return text, False
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text, False
    end = max(limit, 0)
    while end and data[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    kept = data[:end].decode("utf-8", "surrogatepass")
    return f"{kept}\n[{len(data) - end:,} more bytes were cut]", True
