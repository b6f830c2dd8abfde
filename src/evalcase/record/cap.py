"""Keep the record small: cut what is too long, and say how much is gone."""

from __future__ import annotations

import json

from evalcase.model.answer import Answer
from evalcase.model.message import Message
from evalcase.model.value import replace


class TooLargeError(ValueError):
    """Data can't be cut and stay data. `excerpt` is how it begins."""

    def __init__(self, size: int, limit: int, excerpt: str) -> None:
        super().__init__(f"the answer has data of {size:,} bytes, and {limit:,} are kept at most")
        self.excerpt = excerpt


def cap_answer(answer: Answer, limit: int) -> Answer:
    """An answer whose messages have at most `limit` bytes each, marked where a text was cut.

    Raise TooLargeError if what is too long is no text.
    """
    if len(answer.messages) == 1:
        (only,) = answer.messages
        content = only.get("content")
        if len(only) == 2 and type(content) is str and len(content) * 4 <= limit:
            return answer  # most are a short text
    messages = tuple([_cap_message(message, limit) for message in answer.messages])
    if all(new is old for new, old in zip(messages, answer.messages, strict=True)):
        return answer
    return replace(answer, messages=messages, truncated=True)


def _cap_message(message: Message, limit: int) -> Message:
    content = message.get("content")
    if isinstance(content, str) and len(message) == 2:
        text, cut = cap_text(content, limit)
        return Message({"role": message["role"], "content": text}) if cut else message
    rest = {key: value for key, value in message.items() if key != "content"}
    if not isinstance(content, str):
        rest["content"] = content
    data = json.dumps(rest, ensure_ascii=False)
    if cap_text(data, limit)[1]:
        size = len(data.encode("utf-8", "surrogatepass"))
        raise TooLargeError(size, limit, data[:1000])
    if isinstance(content, str):
        text, cut = cap_text(content, limit)
        return Message({**message, "content": text}) if cut else message
    return message


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
