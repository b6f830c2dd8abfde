"""Replies of model services, and runs of agent frameworks, as JSON to messages.

They are recognised by their shape, so that none of their packages is imported. Only what is plainly
the reply of an assistant is read. Anything else is data, with every key as it is. Calls in data are
not lost: `util.calls` finds them when a grader looks at calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from evalcase.errors import TargetError
from evalcase.targets.base import objects_of, part_of
from evalcase.targets.usage import read_model
from evalcase.types.message import OTHER_ROLES, ToolCall, is_message
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

_TEXTS = ("content", "text", "output")
"""Names for the text of a reply without a role, the best first."""
_ENDS_OF_CALLS = ("tool_calls", "tool_use", "function_call")


class Reply(NamedTuple):
    """The messages of a whole reply, or of one run of an agent."""

    messages: list[JSON]
    usages: Sequence[JSON] = ()
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
    return Reply(messages, [usage], read_model(value))


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
    kept = leave_out(
        _present(message, None), ("tool_calls",) if message.get("tool_calls") == [] else ()
    )
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
    return [_present({
        "role": "assistant", "content": said, "tool_calls": _read_uses(uses, rest), "blocks": rest,
        "citations": cited, "stop_reason": reason,
    })]  # fmt: skip


def _read_uses(uses: Iterable[dict[str, Any]], others: Iterable[JSON]) -> list[JSON]:
    """The calls of blocks, each with the result that another block has."""
    results = {str(part_of(each).get("tool_use_id")): part_of(each) for each in others}
    calls: list[JSON] = []
    for use in uses:
        result = results.get(use["id"]) if isinstance(use.get("id"), str) else None
        output = {} if result is None else {"output": result.get("content")}
        calls.append({**leave_out(use, ("type",)), **output})
    return calls


def _find_candidate(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message in Gemini's `candidates`, or of one candidate alone, with its finish reason."""
    candidates = value.get("candidates") or [value]
    if not _is_parts(candidates):
        return None
    content, reason = candidates[0].get("content"), finish_reason_of(candidates[0])
    if content in (None, {}) and reason is not None and candidates[0] is not value:
        content = {"role": "model"}  # it ended before it began
    feedback = part_of(value, "promptFeedback") or part_of(value, "prompt_feedback")
    block = feedback.get("blockReason", feedback.get("block_reason"))
    if content is None and isinstance(block, str):
        end = block if kind_of_end(block) == "blocked" else "blocked"
        return {"role": "assistant", "content": None, "feedback": feedback, "finish_reason": end}
    turn = {**part_of(content), "parts": part_of(content).get("parts") or []}
    if turn.get("role") != "model" or not is_turn(turn):
        return None
    _refuse_several("candidates", candidates, "content")
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
    said = _present(part, None)
    kind = "text" if isinstance(said.get("text"), str) else next(iter(said), "empty")
    return {"type": "thought" if said.get("thought") else kind, **said}


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
    parts = [objects_of(part_of(each).get("content")) for each in messages]
    if not any("toolUse" in part or "toolResult" in part for several in parts for part in several):
        return messages
    return [
        {**part_of(each), "content": _type_parts(part_of(each)["content"])} if several else each
        for each, several in zip(messages, parts, strict=True)
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
    rest, said = leave_out(value, [*extras, *calls, body]), value.get(body or "")
    is_odd = not all(isinstance(each, list | dict | None) for each in calls.values())
    is_data = body != "content" and (rest or not isinstance(said, str | None))
    if is_odd or is_data or (body is None and all(each is None for each in calls.values())):
        return None
    return {"role": "assistant", **({} if body is None else {"content": said}), **calls, **rest}


def put_together(said: JSON, beside: Mapping[str, JSON]) -> JSON:
    """A text with the calls that stand beside it, as one mapping; any other value as it is."""
    calls = {name: beside[name] for name in CALLS if isinstance(beside.get(name), list | dict)}
    if not isinstance(said, str | None) or not any(calls.values()):
        return said
    return {"content": said, **calls}


def _present(value: Mapping[str, Any], *empty: JSON) -> dict[str, Any]:
    """A mapping without keys that say nothing."""
    return {key: item for key, item in value.items() if item not in (empty or (None, []))}


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
    rest, parts = _present(item, None), item.get("content")
    if isinstance(parts, list):
        parts = [_read_item_part(part) for part in parts]
        texts = [each["text"] for each in parts if part_of(each).keys() == {"type", "text"}]
        if len(texts) == len(parts) and all(isinstance(each, str) for each in texts):
            parts = "".join(texts)
    if rest.get("status") == "incomplete":
        rest["finish_reason"] = "incomplete"
    return {"role": item["role"], "content": parts, **leave_out(rest, ("type", "role", "content"))}


def _read_item_part(part: JSON) -> JSON:
    if not isinstance(part, dict) or part.get("type") not in ("output_text", "input_text"):
        return part
    return {**_present(part), "type": "text"}


def _read_item_call(item: dict[str, Any], kind: str) -> dict[str, Any]:
    given = _present(item, None)
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


# Runs of agents, in the form of their framework.

_PIECE = "AIMessageChunk"
_ROLES = {
    "human": "user", "user": "user", "ai": "assistant", _PIECE: "assistant", "tool": "tool",
    "function": "tool", "system": "system",
}  # fmt: skip
"""Roles by the types of LangChain's messages."""
_KEPT = ("tool_calls", "response_metadata", "tool_call_id", "status", "name", "invalid_tool_calls")
RUN_KEYS = ("messages", "final_output", "new_items", "raw_responses", "output", "_state", "steps")
"""Keys of results that hold a run."""


def find_run(value: Any, warn: Warn) -> Reply | None:  # noqa: ANN401 - a JSON value
    """The run of an agent as LangChain, LangGraph, pydantic-ai, OpenAI Agents or smolagents returns
    it; None for any other value."""
    whole: dict[str, Any] = value if isinstance(value, dict) else {}
    match value:
        case {"output": output, "state": str(), "steps": [*steps], "token_usage": usage}:
            messages = [message for step in steps for message in _read_step(step)]
            return Reply([*messages, {"role": "assistant", "content": output}], [usage])
        case (
            {"final_output": _, "new_items": [*items]}
            | {"output": _, "_state": {"message_history": [*items]}}
            | {"messages": [*items]}
            | [*items]
        ):
            pass
        case {}:
            items = [value]
        case _:
            return None
    are_pieces = len(items) > 1 and any(part_of(each).get("type") == _PIECE for each in items)
    for is_one, read in () if are_pieces else _RUNS:
        if items and all(isinstance(each, dict) and is_one(each) for each in items):
            return read(items, whole, warn)
    return None


def _after_last(items: list[Any], is_asked: Callable[[dict[str, Any]], bool]) -> list[Any]:
    """The items after the last one that asks: those before are the conversation so far."""
    asked = [number for number, item in enumerate(items) if is_asked(item)]
    return items[asked[-1] + 1 :] if asked else items


# OpenAI Agents: items around those of the Responses API.


def _is_agents_item(item: dict[str, Any]) -> bool:
    return str(item.get("type")).endswith("_item") and isinstance(item.get("raw_item"), dict)


def _read_agents(items: list[Any], whole: dict[str, Any], warn: Warn) -> Reply:
    responses = objects_of(whole.get("raw_responses"))
    messages = read_items([item["raw_item"] for item in items], warn)
    return Reply(messages, [each.get("usage") for each in responses])


# pydantic-ai: requests and responses of parts.


def _has_parts(item: dict[str, Any]) -> bool:
    parts = item.get("parts")
    is_known = item.get("kind") in ("request", "response") and _is_parts(parts)
    return is_known and all(isinstance(part.get("part_kind"), str) for part in parts or ())


def _read_pydantic_ai(items: list[Any], whole: dict[str, Any], _: Warn) -> Reply:
    tool = whole.get("_output_tool_name")  # it gives the output, and is no call
    said = _after_last(
        items, lambda item: any(part["part_kind"] == "user-prompt" for part in item["parts"])
    )
    messages: list[JSON] = []
    for item in said:
        parts = [part for part in item["parts"] if not tool or part.get("tool_name") != tool]
        read = _read_model_parts if item["kind"] == "response" else _read_tool_parts
        messages += read(item, parts)
    if tool:
        messages.append({"role": "assistant", "content": whole.get("output")})
    return Reply(messages, [item.get("usage") for item in said if item["kind"] == "response"])


def _read_model_parts(item: dict[str, Any], parts: list[dict[str, Any]]) -> list[JSON]:
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


def _read_tool_parts(_: dict[str, Any], parts: list[dict[str, Any]]) -> list[JSON]:
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


def _is_langchain(item: dict[str, Any]) -> bool:
    message = _unwrap(item)
    is_message = "content" in message and "role" not in message
    kind, kwargs = message.get("type"), message.get("additional_kwargs")
    return is_message and isinstance(kwargs, dict) and isinstance(kind, str) and kind in _ROLES


def _read_langchain(items: list[Any], _: dict[str, Any], __: Warn) -> Reply:
    messages = _after_last([_unwrap(item) for item in items], lambda each: each["type"] == "human")
    read: list[JSON] = []
    for message in messages:
        kept = {key: message[key] for key in _KEPT if message.get(key) not in (None, [], {}, "")}
        others = message["additional_kwargs"]
        beside = {key: item for key, item in others.items() if item and key not in kept}
        said = {"role": _ROLES[message["type"]], "content": message["content"]}
        read.append({**said, **kept, **beside})
    said_by_model = [each for each in messages if _ROLES[each["type"]] == "assistant"]
    return Reply(read, [each.get("usage_metadata") for each in said_by_model])


_RUNS = (
    (_is_agents_item, _read_agents), (_has_parts, _read_pydantic_ai),
    (_is_langchain, _read_langchain),
)  # fmt: skip

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
