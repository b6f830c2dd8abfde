"""What OpenAI's Responses API answers, whole or its list of items alone, to messages of ours.

Messages, function calls and their outputs become what they are here, and calls of tools that the
service has itself, such as `web_search_call`, calls of a tool of that name. Reasoning is no answer:
it is kept as `reasoning` of the message that came of it. Items that say nothing of the kind are
told of, once. What else a response has says again what was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalcase.errors import TargetError
from evalcase.types.message import is_message
from evalcase.types.target import Warn
from evalcase.types.value import JSON
from evalcase.util.calls import parse_arguments

_SAID = ("output_text", "refusal")
_CALL, _OUTPUT = "_call", "_call_output"
_ARGUMENTS = ("arguments", "input", "action")
_OF_ITEMS = ("type", "id", "call_id", "name", "output")
_NOTHING = "the answer of the Responses API has no message and no call"


def is_response(value: Mapping[str, JSON]) -> bool:
    """Whether a mapping is all that the service answers."""
    output = value.get("output")
    return isinstance(output, list) and (value.get("object") == "response" or is_items(output))


def is_items(items: list[Any]) -> bool:
    """Whether a list is plainly of the items that a response has: one can be nothing else."""
    if not all(isinstance(item, dict) for item in items) or not any(map(_is_plain, items)):
        return False
    return all(isinstance(item.get("type"), str) or is_message(item) for item in items)


def read_items(items: list[Any], warn: Warn) -> list[JSON]:
    """Its messages, in order. Raise TargetError where there are none."""
    reader = _ItemReader()
    for item in items:
        reader.add(item if isinstance(item, dict) else {})
    kinds = [str(item.get("type"))[:80] for item in reader.unread if isinstance(item, dict)]
    if kinds:
        names = ", ".join(f"`{kind}`" for kind in dict.fromkeys(kinds))
        warn(f"items of the type {names} in the answer are not read")
    if not any(message["role"] == "assistant" for message in reader.messages):
        raise TargetError(_NOTHING, kind="protocol", details={"value": ascii(items)[:1000]})
    return [*reader.finish()]


def read_response(value: dict[str, Any], warn: Warn) -> list[JSON]:
    """The same of a whole response, the last message with how it ended. Raise TargetError for one
    that failed or is not finished, too."""
    if value.get("status") in ("failed", "cancelled", "in_progress", "queued"):
        raise TargetError(f"the response is `{value['status']}`", kind="protocol")
    items = value["output"]
    if value.get("status") == "incomplete" and not any(map(_is_plain, items)):
        items = [*items, {"type": "message", "role": "assistant", "content": None}]
    messages = read_items(items, warn)
    details = value.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    reason = reason or value.get("status")
    said = [each for each in messages if isinstance(each, dict) and each["role"] == "assistant"]
    if isinstance(reason, str):
        said[-1]["finish_reason"] = reason
    return messages


def _is_plain(item: dict[str, Any]) -> bool:
    if item.get("type") == "function_call":
        return isinstance(item.get("call_id"), str) and isinstance(item.get("name"), str)
    parts = item.get("content")
    if item.get("type") != "message" or not isinstance(parts, list):
        return False
    return any(isinstance(part, dict) and part.get("type") in _SAID for part in parts)


class _ItemReader:
    """Takes items one by one, and has the messages that they are."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.unread: list[JSON] = []
        self._thoughts: list[JSON] = []

    def add(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        kind = kind if isinstance(kind, str) else "message" if is_message(item) else ""
        if kind == "message" and is_message(item):
            self._put(_read_said(item))
        elif kind == "reasoning":
            self._thoughts.append(item)
        elif kind.endswith(_OUTPUT):
            output, id = item.get("output"), item.get("call_id")
            told = {key: item[key] for key in ("status", "outcome") if item.get(key)}
            self.messages.append({"role": "tool", "tool_call_id": id, "content": output, **told})
        elif kind.endswith(_CALL):
            self._call(_read_item_call(item, kind))
        else:
            self.unread.append(item)

    def finish(self) -> list[dict[str, Any]]:
        """The messages, once there is no more; what was thought last belongs to the last."""
        if self._thoughts:
            self._think(self.messages[-1])
        said = [message for message in self.messages if message["role"] == "assistant"]
        if self.unread and said:
            said[-1]["items"] = self.unread  # a call among them is found there
        return self.messages

    def _put(self, message: dict[str, Any]) -> None:
        if message["role"] == "assistant":
            self._think(message)
        self.messages.append(message)

    def _call(self, call: dict[str, Any]) -> None:
        last = self.messages[-1] if self.messages else None
        if last is None or last["role"] != "assistant":
            last = {"role": "assistant", "content": None}
            self.messages.append(last)
        self._think(last)
        last["tool_calls"] = [*last.get("tool_calls", ()), call]

    def _think(self, message: dict[str, Any]) -> None:
        if self._thoughts:
            message["reasoning"] = [*message.get("reasoning", ()), *self._thoughts]
            self._thoughts = []


def _read_said(item: dict[str, Any]) -> dict[str, Any]:
    """A message item as a message: its parts are text, and one without notes is just a text."""
    rest = {
        key: value for key, value in item.items()
        if key not in ("type", "role", "content") and value is not None
    }  # fmt: skip
    parts = item.get("content")
    typed = [_read_part(part) for part in parts] if isinstance(parts, list) else parts
    if isinstance(typed, list) and all(_is_bare(part) for part in typed):
        typed = "".join(part["text"] for part in typed)
    return {"role": item["role"], "content": typed, **rest}


def _read_part(part: JSON) -> JSON:
    if not isinstance(part, dict) or part.get("type") not in ("output_text", "input_text"):
        return part
    rest = {key: value for key, value in part.items() if key != "type" and value not in (None, [])}
    return {"type": "text", **rest}


def _is_bare(part: JSON) -> bool:
    if not isinstance(part, dict) or part.keys() != {"type", "text"}:
        return False
    return part["type"] == "text" and isinstance(part["text"], str)


def _read_item_call(item: dict[str, Any], kind: str) -> dict[str, Any]:
    """A call that names its tool; or one of the service's own, which is named by its type."""
    name = item.get("name")
    used = next((key for key in _ARGUMENTS if item.get(key) is not None), None)
    rest = {key: value for key, value in item.items() if value is not None}
    if rest.get("status") == "completed":
        del rest["status"]
    rest = {key: value for key, value in rest.items() if key not in (*_OF_ITEMS, used)}
    call: dict[str, Any] = {"tool": name if isinstance(name, str) and name else kind[: -len(_CALL)]}
    if used is not None:
        call = {**call, "input": parse_arguments(item[used]), **rest}
    elif rest:
        call["input"] = {key: value for key, value in rest.items() if key != "status"}
        call |= {"status": rest["status"]} if "status" in rest else {}
    if item.get("output") is not None:
        call["output"] = item["output"]
    id = item.get("call_id", item.get("id"))
    return call if id is None else {**call, "id": id}
