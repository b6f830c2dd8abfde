"""What a program wrote, as bytes, to an answer.

`text`: the whole output is the answer. `json`: it is one JSON value, read by the rule of `answers`;
anything else is an error. `auto`, the default, is text, unless the whole output is a JSON value of
one of these shapes:

- one that `answers` reads as messages, or as the reply of a model with its calls;
- a mapping of `text`, and nothing that is not listed here;

where `usage` (or `token_usage`) and `cost_usd` may stand beside the messages or the text, and
`duration_ms`, which is not used. Other JSON stays the text that it is, for graders to read.

One line end at the very end is not part of a text: most programs can't help printing it.
"""

from __future__ import annotations

from typing import Literal

from evalcase.errors import TargetError
from evalcase.targets.reading.answer_messages import read_messages
from evalcase.targets.reading.ends import find_end, refuse_failed_transcript
from evalcase.targets.reading.replies import leave_out, note_end, note_unread, put_together
from evalcase.targets.reading.shaped import BODIES, EXTRAS, read_json, read_shape, with_extras
from evalcase.targets.reading.text_messages import bytes_message, text_message
from evalcase.types.answer import Answer
from evalcase.types.message import Message
from evalcase.types.target import Warn
from evalcase.types.value import JSON, replace
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.processes import Output
from evalcase.util.text import cut_bytes

How = Literal["auto", "text", "json", "agentv"]
_TEXT_KEYS = EXTRAS | {"text"}


def read_output(output: Output, how: How, warn: Warn) -> Answer:
    """The answer. Raise TargetError where it can't be read in the way that was asked for."""
    if how == "text":
        return _read_text(output)
    try:
        value = _read_value(output)
    except BadJsonError as error:
        if how != "json":
            refuse_failed_transcript(output.data.decode(errors="replace"))
            return _read_text(output)
        details = {"output": cut_bytes(output.data)}
        message = f"the output is not JSON: {error}"
        raise TargetError(message, kind="protocol", details=details) from None
    if how == "agentv":
        return _read_agentv(value, warn) or _read_text(output)
    answer = _read_shape(value, warn)
    if answer is None and how != "json":
        answer = _read_text(output)
        return replace(answer, messages=note_end(answer.messages, find_end(value)))
    return answer or read_json(value, warn)


def _read_value(output: Output) -> JSON:
    if output.truncated:
        raise BadJsonError("it was cut")
    return parse_json(output.data)


def _read_text(output: Output) -> Answer:
    data = _whole_characters(output.data) if output.truncated else output.data
    if data.endswith(b"\n"):
        data = data[:-2] if data.endswith(b"\r\n") else data[:-1]
    return Answer((bytes_message(data),), truncated=output.truncated)


def _whole_characters(data: bytes) -> bytes:
    """Bytes that were cut anywhere, without the first part of a character at their end."""
    for length in range(1, min(4, len(data)) + 1):
        lead = data[-length]
        if lead & 0xC0 != 0x80:
            needed = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
            return data[:-length] if needed > length else data
    return data


def _read_shape(value: JSON, warn: Warn) -> Answer | None:
    """The answer of a value that has one of the shapes above."""
    answer = read_shape(value, warn)
    if answer is not None or not isinstance(value, dict) or not value.keys() <= _TEXT_KEYS:
        return answer
    text = value.get("text")
    return with_extras((text_message(text),), value, warn) if isinstance(text, str) else None


def _read_agentv(value: JSON, warn: Warn) -> Answer | None:
    """The answer by AgentV's rule: messages, else text. Of other keys only calls matter."""
    if not isinstance(value, dict):
        return None
    for name in BODIES:
        items = value.get(name)
        if isinstance(items, list) and items:
            messages = _messages_or_none(items)
            if messages is None:
                return None
            return with_extras(note_unread(messages, leave_out(value, [name])), value, warn)
    text = value.get("text")
    if not isinstance(text, str):
        return None
    messages = read_json(put_together(text, value)).messages
    return with_extras(note_unread(messages, leave_out(value, ["text"])), value, warn)


def _messages_or_none(items: list[JSON]) -> tuple[Message, ...] | None:
    try:
        return read_messages(items)
    except TargetError:
        return None
