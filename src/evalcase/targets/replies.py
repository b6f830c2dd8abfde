"""Replies of model services to messages, and how a reply says that it ended or failed.

Only what is plainly the reply of an assistant is read. Anything else is data, with every key as it
is. Calls in data are not lost: `util.calls` finds them when a grader looks at calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeGuard

from evalcase.errors import TargetError
from evalcase.targets.usage import read_model, read_usage
from evalcase.types.answer import Usage
from evalcase.types.message import OTHER_ROLES, ToolCall, is_message, text_of
from evalcase.types.target import Warn
from evalcase.types.value import JSON
from evalcase.util.answers import finish_reason_of, kind_of_end
from evalcase.util.calls import (
    BLOCKS,
    CALLS,
    gather_calls,
    is_call_block,
    parse_arguments,
    understand_calls,
)
from evalcase.util.json import BadJsonError, parse_json

_TEXTS = ("content", "text", "output")
"""Names for the text of a reply without a role, the best first."""
_ENDS_OF_CALLS = ("tool_calls", "tool_use", "function_call")


class Reply(NamedTuple):
    """The messages of a whole reply, or of one run of an agent."""

    messages: list[JSON]
    usage: Usage | None = None
    model: str | None = None


def find_reply(value: Any, warn: Warn) -> Reply | None:  # noqa: ANN401 - a JSON value
    """The reply of a model service; None for any other value. Raise TargetError for one with
    several answers, and for one that failed or is not finished."""
    messages: list[JSON]
    match value:
        case [*items] if is_items(items):
            return Reply(read_items(items, warn))
        case {"type": "message", "content": [*_]} if is_message(value):
            messages = read_anthropic(value)
        case {"output": [*items]} if value.get("object") == "response" or is_items(items):
            messages = read_response(value, warn)
        case {"choices": [{"message": {"role": "assistant"}}, *_]}:
            messages = read_completion(value, warn)
        case {"message": {"role": "assistant"} as message, "done": done}:  # Ollama
            end = value.get("done_reason", "stop" if done else "in_progress")
            messages = [{**message, "finish_reason": end}]
        case {
            "output": {"message": {"role": "assistant", "content": [*parts]} as message},
            "stopReason": str(end),
        }:  # Bedrock's Converse API
            messages = [{**message, "content": _type_parts(parts) or None, "finish_reason": end}]
        case {} if (candidate := _find_candidate(value)) is not None:
            messages = [candidate]
        case _:
            return None
    usage = value.get("usage") or value.get("usageMetadata") or value.get("usage_metadata")
    return Reply(messages, read_usage(usage, warn), read_model(value))


def _no_answer(why: str, value: object) -> TargetError:
    return TargetError(why, kind="protocol", details={"value": ascii(value)[:1000]})


def _refuse_several(name: str, several: Sequence[JSON], part: str) -> None:
    if len(several) > 1:
        what = f"the answer has {len(several)} `{name}`, and one can be graded"
        raise _no_answer(f"{what}: return the `{part}` of that one", several)


def read_completion(value: dict[str, Any], warn: Warn) -> list[JSON]:
    """The message in `choices` of OpenAI's chat API, with its finish reason."""
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _no_answer("it has no `choices`", value)
    message, reason = choices[0].get("message"), choices[0].get("finish_reason")
    if not isinstance(message, dict):
        raise _no_answer("its first choice has no `message`", value)
    _refuse_several("choices", choices, "message")
    kept = {key: item for key, item in message.items() if item is not None}
    if kept.get("tool_calls") == []:
        del kept["tool_calls"]
    has_calls = not kept.keys().isdisjoint(CALLS)
    if "content" not in kept and not has_calls:
        # Cut off or refused is an answer of sorts. Nothing at all is none.
        if reason is None and "refusal" not in kept:
            raise _no_answer("its message is empty", value)
        kept["content"] = None
    if reason in _ENDS_OF_CALLS and not has_calls:
        warn(f"an answer has the finish reason `{reason}`, and no calls")
    end = {} if reason is None else {"finish_reason": reason}
    return [{"role": "assistant", **kept, **end}]


def read_anthropic(value: dict[str, Any]) -> list[JSON]:
    """The message of Anthropic's Messages API: texts joined, calls as `{tool, input, id}`, other
    blocks under `blocks`, citations under `citations`."""
    blocks: Any = value.get("content")
    reason = value.get("stop_reason")
    if not _is_parts(blocks):
        raise _no_answer("it has no `content`", value)
    if not blocks and reason is None:
        raise _no_answer("its `content` is empty", value)
    texts = [block for block in blocks if block.get("type") == "text"]
    uses = [block for block in blocks if block.get("type") in (*BLOCKS,)]
    rest: list[JSON] = [each for each in blocks if each.get("type") not in ("text", *BLOCKS)]
    cited: list[JSON] = [each for block in texts for each in block.get("citations") or ()]
    if not all(isinstance(block.get("text"), str) for block in texts):
        raise _no_answer("a block of text has none", value)
    said = "".join(block["text"] for block in texts) if texts or not uses else None
    found = {
        "content": said, "tool_calls": _read_uses(uses, rest), "blocks": rest,
        "citations": cited, "stop_reason": reason,
    }  # fmt: skip
    return [
        {
            "role": "assistant",
            **{key: each for key, each in found.items() if each not in (None, [])},
        }
    ]


def _read_uses(uses: Iterable[dict[str, Any]], others: Iterable[JSON]) -> list[JSON]:
    """The calls of blocks, each with the result that another block has."""
    outputs = {
        each["tool_use_id"]: each.get("content")
        for each in others
        if isinstance(each, dict) and isinstance(each.get("tool_use_id"), str)
    }
    return [
        {
            **leave_out(use, ("type",)),
            **({"output": outputs[use["id"]]} if use.get("id") in (*outputs,) else {}),
        }
        for use in uses
    ]


def _find_candidate(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message in Gemini's `candidates`, or of one candidate alone, with its finish reason."""
    candidates = value.get("candidates") or [value]
    if not _is_parts(candidates):
        return None
    content, reason = candidates[0].get("content"), finish_reason_of(candidates[0])
    if content in (None, {}) and reason is not None and candidates[0] is not value:
        content = {"role": "model"}  # it ended before it began
    feedback = value.get("promptFeedback", value.get("prompt_feedback"))
    if content is None and isinstance(feedback, dict):
        reason = feedback.get("blockReason", feedback.get("block_reason"))
        said = {"role": "assistant", "content": None, "feedback": feedback}
        kind = kind_of_end(reason) if isinstance(reason, str) else None
        end = reason if kind == "blocked" else "blocked"
        return {**said, "finish_reason": end} if isinstance(reason, str) else None
    if not isinstance(content, dict) or content.get("role") != "model":
        return None
    _refuse_several("candidates", candidates, "content")
    turn = {**content, "parts": content.get("parts") or []}
    if not is_turn(turn):
        return None
    return read_turn(turn) if reason is None else {**read_turn(turn), "finish_reason": reason}


# Parts without a type, as Gemini and Bedrock write them: a key says what each of them is.


def _is_parts(value: JSON) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(part, dict) for part in value)


def _type_parts(parts: Iterable[JSON]) -> list[JSON]:
    return [_type_part(part) if isinstance(part, dict) else part for part in parts]


def _type_part(part: dict[str, Any]) -> dict[str, Any]:
    """A part with its key as its type. Calls stay: they are taken out of the content later."""
    if isinstance(part.get("type"), str) or is_call_block(part):
        return part
    said = {key: item for key, item in part.items() if item is not None}
    if said.get("thought"):
        return {"type": "thought", **said}
    kind = "text" if isinstance(said.get("text"), str) else next(iter(said), "empty")
    return {"type": kind, **said}


def is_turn(value: JSON) -> bool:
    """Whether a value is a message in Gemini's form. Parts with a type are of other libraries."""
    if not isinstance(value, dict) or "content" in value:
        return False
    parts = value.get("parts")
    is_gemini = value.get("role") in ("model", "user", "function", "assistant")
    return is_gemini and _is_parts(parts) and not any("type" in part for part in parts)


def read_turn(turn: dict[str, Any]) -> dict[str, Any]:
    role = OTHER_ROLES.get(turn["role"], turn["role"])
    rest = leave_out(turn, ("role", "parts"))
    return {"role": role, "content": _type_parts(turn["parts"]) or None, **rest}


def type_converse(messages: list[JSON]) -> list[JSON]:
    """The messages, with a type for each part if one of them is plainly of Bedrock."""

    def parts_of(message: JSON) -> list[dict[str, Any]]:
        content = message.get("content") if isinstance(message, dict) else None
        return content if _is_parts(content) else []

    parts = [part for each in messages for part in parts_of(each)]
    if not any("toolUse" in part or "toolResult" in part for part in parts):
        return messages
    return [
        {**each, "content": _type_parts(parts_of(each))}
        if isinstance(each, dict) and parts_of(each)
        else each
        for each in messages
    ]


# Calls beside or inside of content.


def mend_message(message: dict[str, Any]) -> dict[str, Any]:
    """The message with all its calls in `tool_calls`: those of `toolCalls`, `function_call` and
    blocks such as `tool_use`, too. Raise BadCallsError for a call that can't be read."""
    content = message.get("content")
    if isinstance(content, list) and any(map(is_call_block, content)):
        message = {**message, **_split_blocks(content, message)}
    calls = gather_calls(message)
    if not calls or calls == message.get("tool_calls"):
        return message
    others = [key for key in CALLS[1:] if message.get(key)]
    return {**leave_out(message, others), "tool_calls": calls}


def _split_blocks(blocks: list[JSON], message: dict[str, Any]) -> dict[str, Any]:
    """The content without its calls, and the calls after those that the message has."""
    rest = _type_parts(block for block in blocks if not is_call_block(block))
    uses = [block for block in blocks if isinstance(block, dict) and is_call_block(block)]
    before = understand_calls(message.get("tool_calls") or [])
    # LangChain has the calls of Anthropic's models twice: as blocks, and beside them.
    known = [(call.get("id"), ToolCall(call).name) for call in before]
    calls = [
        call
        for call in understand_calls(_read_uses(uses, rest))
        if (call.get("id"), call["tool"]) not in known
    ]
    return {"content": rest or None, "tool_calls": [*before, *calls]}


def is_blocks(items: list[JSON]) -> bool:
    """Whether a list is the content of a message in Anthropic's or Gemini's form, with calls."""
    if not any(map(is_call_block, items)) or not _is_parts(items) or any(map(is_message, items)):
        return False
    return len({isinstance(each.get("type"), str) for each in items}) == 1


def find_message(value: dict[str, Any], extras: Collection[str]) -> dict[str, Any] | None:
    """The message that a mapping without a role stands for: a text and calls; None for data."""
    body = next((key for key in _TEXTS if key in value), None)
    calls = {key: value[key] for key in CALLS if key in value}
    blocks = value.get("content")
    if not calls and not (isinstance(blocks, list) and any(map(is_call_block, blocks))):
        return None
    rest = leave_out(value, [*extras, *calls, body])
    if body != "content" and (rest or not isinstance(value.get(body or ""), str | None)):
        return None
    if not all(isinstance(each, list | dict | None) for each in calls.values()):
        return None
    if body is None and all(each is None for each in calls.values()):
        return None
    said = {} if body is None else {"content": value[body]}
    return {"role": "assistant", **said, **calls, **rest}


def put_together(said: JSON, beside: Mapping[str, JSON]) -> JSON:
    """A text with the calls that stand beside it, as one mapping; any other value as it is."""
    calls = {name: beside[name] for name in CALLS if isinstance(beside.get(name), list | dict)}
    if not isinstance(said, str | None) or not any(calls.values()):
        return said
    return {"content": said, **calls}


def leave_out(value: Mapping[str, Any], keys: Collection[str | None]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in keys}


# OpenAI's Responses API.

_ITEM_TEXTS = ("output_text", "refusal")


def is_items(items: list[Any]) -> bool:
    """Whether a list is plainly the `output` of a response: one item can be nothing else."""
    if not all(isinstance(item, dict) for item in items) or not any(map(_is_plain_item, items)):
        return False
    return all(isinstance(item.get("type"), str) or is_message(item) for item in items)


def _is_plain_item(item: dict[str, Any]) -> bool:
    if item.get("type") == "function_call":
        return isinstance(item.get("call_id"), str) and isinstance(item.get("name"), str)
    parts = item.get("content")
    if item.get("type") != "message" or not isinstance(parts, list):
        return False
    return any(isinstance(part, dict) and part.get("type") in _ITEM_TEXTS for part in parts)


def read_response(value: dict[str, Any], warn: Warn) -> list[JSON]:
    """The messages of a whole response, the last with the reason for its end. Raise TargetError
    for one that failed or is not finished."""
    status, items = value.get("status"), value.get("output")
    if not isinstance(items, list):
        raise _no_answer("it has no `output`", value)
    if status in ("failed", "cancelled", "in_progress", "queued"):
        raise TargetError(f"the response is `{status}`", kind="protocol")
    found = any(_is_plain_item(each) for each in items if isinstance(each, dict))
    if status == "incomplete" and not found:
        items = [*items, {"type": "message", "role": "assistant", "content": None}]
    messages = read_items(items, warn)
    details = value.get("incomplete_details")
    reason = (details.get("reason") if isinstance(details, dict) else None) or status
    last = [each for each in messages if isinstance(each, dict) and each["role"] == "assistant"][-1]
    if isinstance(reason, str) and (reason != "completed" or "finish_reason" not in last):
        last["finish_reason"] = reason
    return messages


def read_items(items: list[Any], warn: Warn) -> list[JSON]:
    """The messages of the items of a response. Calls of the service's own tools, such as
    `web_search_call`, are calls of a tool of that name. Reasoning is kept as `reasoning` of the
    message that follows it. Raise TargetError where there is no message and no call."""
    messages: list[dict[str, Any]] = []
    thoughts: list[JSON] = []
    unread: list[dict[str, Any]] = []
    for item in (each if isinstance(each, dict) else {} for each in items):
        if item.get("type") == "reasoning":
            thoughts.append(item)
        elif not _add_item(item, messages):
            unread.append(item)
        elif thoughts and messages[-1]["role"] == "assistant":
            messages[-1]["reasoning"] = [*messages[-1].get("reasoning", ()), *thoughts]
            thoughts = []
    said = [message for message in messages if message["role"] == "assistant"]
    if unread:
        kinds = dict.fromkeys(f"`{item.get('type')!s:.80}`" for item in unread)
        warn(f"items of the type {', '.join(kinds)} in the answer are not read")
    if not said:
        raise _no_answer("the answer of the Responses API has no message and no call", items)
    if thoughts:
        messages[-1]["reasoning"] = [*messages[-1].get("reasoning", ()), *thoughts]
    if unread:
        said[-1]["items"] = unread  # so that a call among them is found
    return [*messages]


def _add_item(item: dict[str, Any], messages: list[dict[str, Any]]) -> bool:
    """Add an item to the messages; False if it is neither a message nor a call."""
    kind = item.get("type")
    kind = kind if isinstance(kind, str) else "message" if is_message(item) else ""
    if kind == "message" and is_message(item):
        messages.append(_read_said(item))
    elif kind.endswith("_call_output"):
        told = {key: item[key] for key in ("status", "outcome") if item.get(key)}
        output = {"tool_call_id": item.get("call_id"), "content": item.get("output"), **told}
        messages.append({"role": "tool", **output})
    elif kind.endswith("_call"):
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": None})
        calls = messages[-1].get("tool_calls", ())
        messages[-1]["tool_calls"] = [*calls, _read_item_call(item, kind)]
    else:
        return False
    return True


def _read_said(item: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in item.items() if value is not None}
    parts: Any = item.get("content")
    if isinstance(parts, list):
        parts = [_read_item_part(part) for part in parts]
        texts = [
            each["text"]
            for each in parts
            if isinstance(each, dict) and each.keys() == {"type", "text"}
        ]
        if len(texts) == len(parts) and all(isinstance(each, str) for each in texts):
            parts = "".join(texts)
    if rest.get("status") == "incomplete":
        rest["finish_reason"] = "incomplete"
    return {"role": item["role"], "content": parts, **leave_out(rest, ("type", "role", "content"))}


def _read_item_part(part: JSON) -> JSON:
    if not isinstance(part, dict) or part.get("type") not in ("output_text", "input_text"):
        return part
    rest = {key: value for key, value in part.items() if key != "type" and value not in (None, [])}
    return {"type": "text", **rest}


def _read_item_call(item: dict[str, Any], kind: str) -> dict[str, Any]:
    given = {key: value for key, value in item.items() if value is not None}
    used = next((key for key in ("arguments", "input", "action") if key in given), "")
    rest = leave_out(given, ("type", "id", "call_id", "name", "output", "status", used))
    call: dict[str, Any] = {"tool": item.get("name") or kind.removesuffix("_call")}
    if used:
        call |= {"input": parse_arguments(item[used]), **rest}
    elif rest:
        call["input"] = rest
    if given.get("status", "completed") != "completed":
        call["status"] = item["status"]
    id = item.get("call_id", item.get("id"))
    output = {"output": given["output"]} if "output" in given else {}
    return {**call, **output, **({} if id is None else {"id": id})}


# How a reply ended: beside its message, or in place of one.

_INNER = ("delta", "response", "message", "messageStop", "choices", "candidates", "messages")
"""Keys of a reply or an event that hold what is said of the whole."""
_REPLY_KEYS = frozenset({
    "role", "content", "text", "message", "messages", "usage", "model", "response_metadata",
    "parts", "answer", "finishMessage", "output", "response", "result", "completion",
    "finish_reason", "finishReason", "promptFeedback",
})  # fmt: skip
"""Only beside one of these is `stop_reason` the reason for the end of a reply: data may have it."""


def find_end(value: JSON) -> str | None:
    """The reason for the end that a reply has, or the last of its events with one."""
    events = value if isinstance(value, list) else [_parse_last(value)]
    return next((each for event in reversed(events) for each in _list_reasons(event)), None)


def find_end_at(value: JSON, steps: Iterable[str]) -> str | None:
    """The reason for the end on the way of a path to the answer. Raise TargetError where the reply
    says that it failed."""
    found = None
    for step in (*steps, ""):
        if isinstance(value, dict):
            refuse_failed(value)
            found = next(_reasons_of(value), found)
            value = value.get(step)
            continue
        try:
            value = value[int(step)] if isinstance(value, list) else None
        except (ValueError, IndexError):
            break
    return found


def is_broken_off(events: list[JSON]) -> bool:
    """Whether a stream of a known service stops before it says how it ended."""
    kinds = [str(each.get("type")) for each in events if isinstance(each, dict)]
    is_known = any(each == "message_start" or each.startswith("response.") for each in kinds)
    for event in events:
        if isinstance(event, dict) and (event.get("choices") or event.get("candidates")):
            is_known = True
    end = find_end(events)
    return is_known and "message_stop" not in kinds and kind_of_end(end or "queued") == "unfinished"


def _list_reasons(value: JSON) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    if not _REPLY_KEYS.isdisjoint(value):
        yield from _reasons_of(value)
    for key in _INNER:
        inner = value.get(key)
        if isinstance(inner, list) and inner:
            inner = inner[-1 if key == "messages" else 0]
        if isinstance(inner, dict):
            yield from _reasons_of(inner)


def _reasons_of(value: Mapping[str, Any]) -> Iterator[str]:
    reasons = [finish_reason_of(value)]
    if value.get("object") == "response":
        details = value.get("incomplete_details")
        reasons.append(details.get("reason") if isinstance(details, dict) else value.get("status"))
    feedback = value.get("promptFeedback")
    reasons.append(feedback.get("blockReason") if isinstance(feedback, dict) else None)
    status = value.get("status")
    if isinstance(value.get("messages"), list) and isinstance(status, str) and kind_of_end(status):
        reasons.append(status)
    yield from (reason for reason in reasons if isinstance(reason, str))


def refuse_failed(value: JSON) -> None:
    """Raise TargetError for a reply that says itself that it failed, or holds no answer; also as a
    list of events, or as text of JSON lines, whose last one says so."""
    if isinstance(value, list):
        value = value[-1] if value and isinstance(value[-1], dict) and "type" in value[-1] else None
    value = _parse_last(value)
    why = _find_failure(value) if isinstance(value, dict) else None
    if why is not None:
        raise TargetError(f"the reply is no answer: {why!s:.500}", kind="protocol")


def _parse_last(value: JSON) -> JSON:
    """The object in the last line of a text of JSON objects; any other value as it is."""
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    with suppress(BadJsonError):
        return parse_json(value.rstrip().rsplit("\n", 1)[-1])
    return value


def _find_failure(value: Mapping[str, Any]) -> str | None:
    error, status = value.get("error"), value.get("status")
    said = (error.get("message") if isinstance(error, dict) else None) or error
    match value:
        case (
            {"choices": [{"message": _}, *_]}
            | {"candidates": [{"content": _}, *_]}
            | {"output": [{"type": _}, *_]}
            | {"object": "response"}
            | {"messages": [*_]}
            | {"type": "message", "role": "assistant"}
        ) if error:
            return f"it failed: {said}"
        case {"type": "error" | "turn.failed" | "RUN_ERROR", "error": {}}:
            return f"it failed: {said}"
        case {"messages": [*_]} if kind_of_end(str(status)) in ("failed", "unfinished"):
            return f"its `status` is `{status}`"
        case {"type": "result", "is_error": True}:  # Claude Code
            return f"it failed: {value.get('result') or value.get('subtype')}"
        case {"type": "result", "status": "error"}:  # Gemini CLI
            return f"it failed: {error}"
        case {"isError": True, "content": [*content]}:  # MCP
            return f"it failed: {text_of(content)}"
        case {"object": "chat.completion"} if not value.get("choices"):
            return "it has no `choices`"
        case {"usageMetadata": _, "modelVersion": _}:
            has_candidates = value.get("candidates") or "promptFeedback" in value
            return None if has_candidates else "it has no `candidates`"
    return None
