"""Results of agent frameworks: what LangChain, LangGraph, pydantic-ai, OpenAI Agents and smolagents
return, as objects or as their JSON, to messages and usage.

They are recognised by their shape, so that none of these packages is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec

from evalcase.targets.replies import Reply, read_items
from evalcase.targets.usage import read_usage
from evalcase.types.answer import Usage, sum_usage
from evalcase.types.target import Warn
from evalcase.types.value import JSON
from evalcase.util.calls import parse_arguments
from evalcase.util.json import NotJsonError

_ROLES = {
    "human": "user", "user": "user", "ai": "assistant", "AIMessageChunk": "assistant",
    "tool": "tool", "function": "tool", "system": "system",
}  # fmt: skip
"""Roles by the types of LangChain's messages."""
_KEPT = ("tool_calls", "response_metadata", "tool_call_id", "status", "name", "invalid_tool_calls")


RUN_KEYS = ("messages", "final_output", "new_items", "raw_responses", "output", "_state", "steps")
"""Keys of results that hold a run."""


def to_plain(value: object) -> object:
    """An object of user code as plain data: dataclasses, Structs, pydantic models, and results of
    frameworks with the parts that matter. Raise NotJsonError for any other object."""
    try:
        # Bytes are no text: they are left as they are, and refused.
        return msgspec.to_builtins(
            _pick_parts(_only_objects(value)),
            enc_hook=_to_plain_hook,
            builtin_types=(bytes, bytearray),
        )
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise NotJsonError(str(error)) from None


_LOOSE = (set, frozenset, date, time, timedelta, Decimal, UUID, Enum)
"""msgspec writes them as lists and texts. Fields of an object may hold them; an answer may not."""


def _only_objects(value: object) -> object:
    """The same value. Raise TypeError if it holds anything but JSON and objects with fields."""
    if isinstance(value, _LOOSE) and not isinstance(value, str | int):
        raise TypeError(f"{type(value).__name__} is not a JSON value")
    if isinstance(value, Mapping):
        for item in value.values():
            _only_objects(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _only_objects(item)
    return value


def _to_plain_hook(value: Any) -> object:  # noqa: ANN401 - an object of user code
    if isinstance(value, str):
        return str.__str__(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump) and hasattr(value, "model_fields_set"):
        return dump(mode="json", warnings=False)
    picked = _pick_parts(value)
    if picked is value:
        raise NotImplementedError(f"{type(value).__name__} is not a JSON value")
    return picked


def _pick_parts(value: Any) -> Any:  # noqa: ANN401 - an object of user code
    """The parts of a framework's result. The rest of it is agents, clients and contexts."""
    if isinstance(value, dict):
        return {key: _pick_parts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_pick_parts(item) for item in value]
    if _has(value, "final_output", "new_items", "raw_responses"):  # OpenAI Agents
        items = [{"type": each.type, "raw_item": each.raw_item} for each in value.new_items]
        usages = [{"usage": each.usage} for each in value.raw_responses]
        return {"final_output": "", "new_items": items, "raw_responses": usages}
    if _has(value, "new_messages", "output", "usage"):  # pydantic-ai
        tool = getattr(value, "_output_tool_name", None)
        history = {"message_history": value.new_messages()}
        return {"output": value.output, "_output_tool_name": tool, "_state": history}
    return value


def _has(value: object, *names: str) -> bool:
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)


def find_run(value: Any, warn: Warn) -> Reply | None:  # noqa: ANN401 - a JSON value
    """The run of an agent in the form of its framework; None for any other value."""
    match value:
        case {"final_output": _, "new_items": [*items]} if _all(items, _is_agents_item):
            responses = value.get("raw_responses")
            usage = _sum_usages(responses if isinstance(responses, list) else (), "usage", warn)
            return Reply(_read_agents_items(items, warn), usage)
        case {"output": output, "_state": {"message_history": [*items]}} if _all(items, _has_parts):
            tool = value.get("_output_tool_name")
            return _read_pydantic_ai(items, warn, output, tool if isinstance(tool, str) else None)
        case {"output": output, "state": str(), "steps": [*steps]} if "token_usage" in value:
            messages = [message for step in steps for message in _read_step(step)]
            usage = read_usage(value["token_usage"], warn)
            return Reply([*messages, {"role": "assistant", "content": output}], usage)
        case {"messages": [*items]} if _are_langchain(items):
            return _read_langchain(items, warn)
        case [*items] if _all(items, _is_agents_item):
            return Reply(_read_agents_items(items, warn))
        case [*items] if _all(items, _has_parts):
            return _read_pydantic_ai(items, warn)
        case [*items] if _are_langchain(items):
            return _read_langchain(items, warn)
        case {} if _are_langchain([value]):
            return _read_langchain([value], warn)
    return None


def _all(items: Sequence[JSON], check: Callable[[dict[str, Any]], object]) -> bool:
    return bool(items) and all(isinstance(each, dict) and check(each) for each in items)


def _after_last(items: list[Any], is_asked: Callable[[dict[str, Any]], bool]) -> list[Any]:
    """The items after the last one that asks: those before are the conversation so far."""
    asked = [number for number, item in enumerate(items) if is_asked(item)]
    return items[asked[-1] + 1 :] if asked else items


def _sum_usages(items: Iterable[Any], key: str, warn: Warn) -> Usage | None:
    usages = (item.get(key) if isinstance(item, dict) else None for item in items)
    return sum_usage([read_usage(usage, warn) for usage in usages])


# OpenAI Agents: items around those of the Responses API.


def _is_agents_item(item: dict[str, Any]) -> bool:
    return str(item.get("type")).endswith("_item") and isinstance(item.get("raw_item"), dict)


def _read_agents_items(items: list[Any], warn: Warn) -> list[JSON]:
    return read_items([item["raw_item"] for item in items], warn)


# pydantic-ai: requests and responses of parts.


def _has_parts(item: dict[str, Any]) -> bool:
    parts = item.get("parts")
    is_list = isinstance(parts, list) and item.get("kind") in ("request", "response")
    return is_list and (
        not parts or _all(parts, lambda part: isinstance(part.get("part_kind"), str))
    )


def _read_pydantic_ai(
    history: list[Any], warn: Warn, output: JSON = None, output_tool: str | None = None
) -> Reply:
    said = _after_last(
        history, lambda item: any(part["part_kind"] == "user-prompt" for part in item["parts"])
    )
    messages: list[JSON] = []
    for item in said:
        # The tool that gives the output is no call.
        parts = [
            part
            for part in item["parts"]
            if output_tool is None or part.get("tool_name") != output_tool
        ]
        is_response = item["kind"] == "response"
        messages += _read_response(item, parts) if is_response else _read_request(parts)
    if output_tool is not None:
        messages.append({"role": "assistant", "content": output})
    responses = [item for item in said if item["kind"] == "response"]
    return Reply(messages, _sum_usages(responses, "usage", warn))


def _read_response(item: dict[str, Any], parts: list[dict[str, Any]]) -> list[JSON]:
    def contents(*kinds: str) -> list[dict[str, Any]]:
        return [part for part in parts if part["part_kind"].endswith(kinds)]

    texts = [str(part.get("content") or "") for part in contents("text")]
    results = {part.get("tool_call_id"): part.get("content") for part in contents("tool-return")}
    calls: list[JSON] = []
    for part in contents("tool-call"):
        name, id = part.get("tool_name"), part.get("tool_call_id")
        call = {"tool": name, "input": parse_arguments(part.get("args")), "id": id}
        calls.append({**call, "output": results[id]} if id in results else call)
    others = ("text", "tool-call", "tool-return")
    message: dict[str, JSON] = {"role": "assistant", "content": "".join(texts) or None}
    found: dict[str, Any] = {
        "tool_calls": calls,
        "parts": [part for part in parts if not part["part_kind"].endswith(others)],
        "finish_reason": item.get("finish_reason"),
    }
    return [{**message, **{key: each for key, each in found.items() if each}}]


def _read_request(parts: list[dict[str, Any]]) -> list[JSON]:
    messages: list[JSON] = []
    for part in parts:
        kind = part["part_kind"]
        if kind in ("tool-return", "retry-prompt") and part.get("tool_name") is not None:
            result = {"tool_call_id": part.get("tool_call_id"), "content": part.get("content")}
            failed = kind == "retry-prompt" or part.get("outcome", "success") != "success"
            messages.append({"role": "tool", **result, **({"is_error": True} if failed else {})})
    return messages


# LangChain and LangGraph: messages with a type in place of a role.


def _unwrap(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the wrapper that `messages_to_dict` puts around it."""
    data = message.get("data")
    return {**data, "type": message.get("type")} if isinstance(data, dict) else message


def _are_langchain(items: Sequence[JSON]) -> bool:
    def is_one(item: dict[str, Any]) -> bool:
        message = _unwrap(item)
        kind, kwargs = message.get("type"), message.get("additional_kwargs")
        is_piece = kind == "AIMessageChunk" and len(items) > 1  # pieces of a stream
        is_message = isinstance(kwargs, dict) and "content" in message and "role" not in message
        return is_message and isinstance(kind, str) and kind in _ROLES and not is_piece

    return _all(items, is_one)


def _read_langchain(items: list[Any], warn: Warn) -> Reply:
    messages = _after_last([_unwrap(item) for item in items], lambda each: each["type"] == "human")
    read: list[JSON] = []
    for message in messages:
        kept = {key: message[key] for key in _KEPT if message.get(key) not in (None, [], {}, "")}
        others = message["additional_kwargs"]
        beside = {key: item for key, item in others.items() if item and key not in kept}
        said = {"role": _ROLES[message["type"]], "content": message["content"]}
        read.append({**said, **kept, **beside})
    said_by_model = [each for each in messages if _ROLES[each["type"]] == "assistant"]
    return Reply(read, _sum_usages(said_by_model, "usage_metadata", warn))


# smolagents: steps with calls and observations.


def _read_step(step: JSON) -> list[JSON]:
    if not isinstance(step, dict):
        return []
    said = step.get("model_output_message")  # a step that failed has its calls only there
    calls = step.get("tool_calls") or (said.get("tool_calls") if isinstance(said, dict) else None)
    if not isinstance(calls, list) or not calls:
        return []
    messages: list[JSON] = [{"role": "assistant", "content": None, "tool_calls": calls}]
    ids = [call.get("id") for call in calls if isinstance(call, dict)]
    error, observed = step.get("error"), step.get("observations")
    if len(ids) == 1 and (error or observed is not None):
        content = error.get("message") if isinstance(error, dict) else observed
        failed: dict[str, JSON] = {"is_error": True} if error else {}
        messages.append({"role": "tool", "tool_call_id": ids[0], "content": content, **failed})
    return messages
