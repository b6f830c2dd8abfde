"""Messages of a question as every chat API takes them: turns, in which each result of a tool names
its call, and content parts."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from evalcase.errors import TargetError
from evalcase.targets.base import ContentFile, Files, image_type
from evalcase.types.message import Message, ToolCall, find_picture, part_text, parts_of
from evalcase.types.target import Warn
from evalcase.types.value import JSON

_CALL_KEYS = frozenset({"id", "type", "function", "tool", "input", "output"})
_COMMON_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id"})
_ANSWER_KEYS = frozenset({"finish_reason", "stop_reason", "annotations", "status", "id"})
"""Keys that an API puts beside an answer and doesn't take back. They stand in every later turn of a
conversation, where no person has written them."""


class SentCall(NamedTuple):
    """A tool call as it is sent: with an id, and with arguments as data and as text."""

    id: str
    name: str
    arguments: JSON
    text: str
    """The arguments as JSON text; where they came as text, just that."""


class ChatTurn(NamedTuple):
    role: str
    content: JSON
    calls: tuple[SentCall, ...] = ()
    call_id: str | None = None
    """The id of the call that a tool message answers."""
    extras: dict[str, JSON] = {}

    def warn_of_extras(self, known: frozenset[str], api: str, warn: Warn) -> None:
        """Name keys of a message that are not sent, because the API would refuse them."""
        for key in self.extras.keys() - known - _ANSWER_KEYS:
            warn(f"`{key}` of a message is not sent: {api} doesn't know it")


def read_turns(messages: Iterable[Message], warn: Warn) -> list[ChatTurn]:
    """The turns. Ids are made where calls have none, and tool messages without an id are matched to
    calls: by `name` or `tool`, else in order. The `output` of a call becomes a tool message, unless
    there is one. Raise TargetError for a tool message without a call."""
    messages = list(messages)
    used = {call.id for message in messages for call in message.tool_calls}
    fresh_ids = (each for number in count(1) if (each := f"call_{number}") not in used)
    open_calls: dict[str, str] = {}
    """The names of calls without a result so far, by their ids."""
    outputs: dict[str, JSON] = {}
    """Results that stand with their call, by the same ids."""
    turns: list[ChatTurn] = []

    def add_outputs() -> None:
        for id in [*outputs]:
            del open_calls[id]
            turns.append(ChatTurn("tool", outputs.pop(id), call_id=id))

    def write_call(call: ToolCall) -> SentCall:
        for key in call.keys() - _CALL_KEYS:
            warn(f"`{key}` of a tool call is not sent: no API knows it")
        id = call.id if isinstance(call.id, str) and call.id else next(fresh_ids)
        open_calls[id] = call.name
        if "output" in call:
            outputs[id] = call.output
        arguments = {} if call.arguments is None else call.arguments
        raw = None if "tool" in call else call["function"].get("arguments")
        text = raw if isinstance(raw, str) else json.dumps(arguments, ensure_ascii=False)
        return SentCall(id, call.name, arguments, text)

    for number, message in enumerate(messages, 1):
        extras = {key: value for key, value in message.items() if key not in _COMMON_KEYS}
        if message.role != "tool":
            add_outputs()
            calls = tuple(map(write_call, message.tool_calls))
            turns.append(ChatTurn(message.role, message.content, calls, None, extras))
            continue
        call_id = message.get("tool_call_id")
        if not isinstance(call_id, str) or not call_id:
            name = message.get("name", message.get("tool"))
            named = [each for each, tool in open_calls.items() if tool == name]
            # A call that has a result already is the less likely one.
            call_id = min(named or open_calls, key=outputs.__contains__, default=None)
        if call_id is None:
            what = f"message {number} is the result of a tool without a call"
            raise TargetError(f"{what}; give it the `tool_call_id` of a call before it")
        open_calls.pop(call_id, None)
        outputs.pop(call_id, None)
        turns.append(ChatTurn("tool", message.content, (), call_id, extras))
    add_outputs()
    return turns


# Content parts.


def write_parts(content: JSON, files: Files) -> list[dict[str, JSON]]:
    """The parts of some content, in the form of OpenAI's chat API: data is text as JSON, a part of
    an unknown type is itself. Raise TargetError for one that can't be sent."""
    if content is None:
        return []
    parts = parts_of(content)
    if not parts:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        return [{"type": "text", "text": text}]
    return [_write_part(part, files) for part in parts]


def _write_part(part: dict[str, JSON], files: Files) -> dict[str, JSON]:
    text = part_text(part)
    if text is not None:
        return {"type": "text", "text": text, **_drop(part, "text", "value")}
    name = part.get("path", part.get("value"))
    if part["type"] == "file" and isinstance(name, str) and name in files:
        return _write_file(files[name], _drop(part, "path", "value"))
    found = find_picture(part) if part["type"] == "image" else None
    if found is None:
        return part  # in the shape of some provider
    extras = _drop(part, found.key, "media_type", "mime_type")
    if found.kind == "address":
        return _write_image(found.text, extras)
    if found.kind == "base64":
        media_type = part.get("media_type", part.get("mime_type"))
        return _write_image(_data_url(found.text, media_type), extras)
    if not files[found.text].media_type.startswith("image/"):
        raise TargetError(f"`{found.text}` is not a PNG, JPEG, GIF or WebP image")
    return _write_file(files[found.text], extras)


def _write_file(file: ContentFile, extras: dict[str, JSON]) -> dict[str, JSON]:
    if file.media_type == "text/plain":
        return {
            "type": "text",
            "text": f'<file name="{file.name}">\n{file.data}\n</file>',
            **extras,
        }
    url = f"data:{file.media_type};base64,{file.data}"
    if file.media_type == "application/pdf":
        return {"type": "file", "file": {"filename": file.name, "file_data": url}, **extras}
    return _write_image(url, extras)


def _write_image(url: str, extras: dict[str, JSON]) -> dict[str, JSON]:
    detail = {"detail": extras["detail"]} if "detail" in extras else {}
    return {"type": "image_url", "image_url": {"url": url, **detail}, **_drop(extras, "detail")}


def _data_url(data: str, media_type: JSON) -> str:
    data = "".join(data.split())
    try:
        start = b64decode(data[:64], validate=True)
    except ValueError:
        raise TargetError("`data` of an image is not base64") from None
    found = media_type if isinstance(media_type, str) and media_type else image_type(start)
    if found is None:
        raise TargetError("an image has `data` without a `media_type`, such as image/png")
    return f"data:{found};base64,{data}"


def _drop(part: dict[str, JSON], *names: str) -> dict[str, JSON]:
    return {key: value for key, value in part.items() if key != "type" and key not in names}
