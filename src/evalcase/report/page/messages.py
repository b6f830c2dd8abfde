"""Messages in, what the page shows of them out. Data becomes text here, where no digit of a number
is lost; the browser is given nothing but strings to show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from evalcase.types.message import ToolCall, find_picture, is_part, names_tool, part_text
from evalcase.types.value import JSON
from evalcase.util.text import as_json, content_text

Told = dict[str, Any]
"""A JSON object for the page."""

_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
_LARGEST_PICTURE = 2_000_000
_SHOWN = frozenset({"role", "content", "tool_calls"})


def tell_messages(messages: Iterable[Mapping[str, JSON]]) -> list[Told]:
    """Each message with its role, its parts, its calls, and whatever else it holds as JSON."""
    return [_tell_message(message) for message in messages]


def _tell_message(message: Mapping[str, JSON]) -> Told:
    told: Told = {"role": str(message.get("role"))}
    if message.get("content") is not None:
        told["parts"] = _tell_content(message["content"])
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        told["calls"] = [_tell_call(call) for call in calls]
    others = {key: value for key, value in message.items() if key not in _SHOWN}
    if others:
        told["more"] = as_json(others, indent=2)
    if (calls or others) and not content_text(message.get("content")).strip():
        # What there is says more than that there is no text.
        told.pop("parts", None)
        told |= {"bare": True} if others else {}
    return told


def _tell_content(content: JSON) -> list[Told]:
    if isinstance(content, str):
        return [{"text": content}]
    if isinstance(content, list) and content and all(map(is_part, content)):
        return [_tell_part(part) for part in content if isinstance(part, dict)]
    return [{"kind": "json", "text": as_json(content, indent=2)}]


def _tell_part(part: Mapping[str, JSON]) -> Told:
    text = part_text(part)
    if text is not None:
        return {"text": text}
    for name in ("value", "url", "image_url", "data"):
        found = part.get(name)
        if isinstance(found, dict):  # OpenAI's {image_url: {url}}
            found = found.get("url")
        if isinstance(found, str) and len(found) < _LARGEST_PICTURE and _PICTURE.fullmatch(found):
            return {"picture": "".join(found.split())}
    kind, source = str(part.get("type")), find_picture(part)
    if kind == "image" and source is not None and part.keys() == {"type", source.key}:
        return {"kind": kind, "text": source.text}
    return {"kind": kind, "text": as_json(dict(part), indent=2)}


def _tell_call(call: JSON) -> Told:
    if not isinstance(call, dict) or not names_tool(call):
        return {"name": "?", "input": as_json(call, indent=2)}
    made = ToolCall(call)
    told: Told = {"name": made.name}
    if made.arguments is not None:
        told["input"] = content_text(made.arguments)
    if made.output is not None:
        told["output"] = content_text(made.output)
    if isinstance(made.id, str):
        told["id"] = made.id
    return told
