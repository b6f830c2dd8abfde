"""Keep the record small: cut what is too long, and say how much is gone."""

from __future__ import annotations

from dataclasses import replace

from evalcase.model.answer import Answer
from evalcase.model.message import Message


def cap_answer(answer: Answer, limit: int) -> Answer:
    """An answer whose texts have at most `limit` bytes each, marked where one was cut."""
    if not any(_is_long(message, limit) for message in answer.messages):
        return answer
    messages = []
    for message in answer.messages:
        data = message.to_dict()
        if isinstance(data.get("content"), str):
            data["content"], _ = cap_text(data["content"], limit)
        messages.append(Message(data))
    return replace(answer, messages=tuple(messages), truncated=True)


def _is_long(message: Message, limit: int) -> bool:
    content = message.get("content")
    return isinstance(content, str) and cap_text(content, limit)[1]


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
