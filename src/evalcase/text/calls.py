"""The tool calls of an answer: in which forms calls are written, and which of them were read.

A call that is overlooked counts as none, and `tool_calls: {forbidden: […]}` would pass. So a grader
takes calls from `seen_calls`, which raises where the answer holds anything shaped like a call that
is not among the calls that were read. Shaped like a call is a mapping, in data or in text that is
wholly JSON or JSONL, with the name of a tool beside arguments, or with a known type. Prose is never
searched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from evalcase.errors import GraderError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON, describe_kind, write_alike
from evalcase.model.message import Message, ToolCall, names_tool
from evalcase.model.quick_tuple import NamedTuple
from evalcase.text.answer_value import unfence_text
from evalcase.text.counted import list_some
from evalcase.text.strict_json import BadJsonError, parse_json

UNREAD = "unread_calls"
"""The key of a message under which a target lists calls that it saw in a reply and did not read. An
empty list says that there are none, whatever the content looks like."""

SINGLE = ("functionCall", "function_call")
CALLS = ("tool_calls", "toolCalls", "function_calls", "functionCalls", *SINGLE)
"""What a message may call its calls, in forms that are read."""
_WRAPPERS = (*SINGLE, "toolUse", "toolCall", "tool_call", "toolInvocation")
"""Keys of one call: `{functionCall: {name, args}}` of Gemini, `{toolUse: …}` of Bedrock."""
_LISTS = (
    "tool_calls", "toolCalls", "function_calls", "functionCalls", "invalid_tool_calls",
    "tool_call_chunks", "toolInvocations", "toolRequests",
)  # fmt: skip
"""Keys of lists that hold nothing but calls."""
_STEPS = ("intermediate_steps", "intermediateSteps")
"""Keys of LangChain's pairs of a call and what it gave, which may be texts."""
_CODE = ("executableCode", "executable_code")

BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call"})
"""Types of content parts that are calls: of Anthropic, of LangChain and of the AI SDK."""
_TYPES = BLOCKS | {
    # items of OpenAI's Responses API and of its Agents SDK
    "function_call", "custom_tool_call", "mcp_call", "mcp_approval_request", "web_search_call",
    "file_search_call", "computer_call", "code_interpreter_call", "image_generation_call",
    "local_shell_call", "shell_call", "apply_patch_call", "tool_search_call", "tool_call_item",
    # parts of pydantic-ai, LangChain and the AI SDK
    "builtin-tool-call", "tool_call_chunk", "tool-invocation", "dynamic-tool",
    # events of Codex and Copilot
    "command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "exec_command_begin",
    "exec_command_end", "patch_apply_begin", "mcp_tool_call_begin", "tool.execution_start",
    "tool.execution_complete",
}  # fmt: skip
_TOOL_NAMES = ("tool", "tool_name", "toolName", "function_name", "functionName")
_NAMES = ("name", *_TOOL_NAMES)
_ARGUMENTS = ("input", "args", "arguments", "parameters", "tool_input", "toolInput", "tool_args")
_IDS = ("id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "callID", "tool_id")
_NOT_THE_AGENT = frozenset({"user", "system", "developer", "tool", "function"})

_READ = frozenset({"role", "content", "tool_calls", UNREAD})
_SHOWN = 3
_HINT = 'a form that is read is {"role": "assistant", "tool_calls": [{"tool": …, "input": {…}}]}'
_STREAM_FIELDS = ("event:", "id:", "retry:", ":")


class BadCallsError(ValueError):
    """Something is given as calls that can't be read as such."""


class CallShape(NamedTuple):
    """Something that is shaped like a call, with what could be read of it."""

    path: tuple[str, ...]
    tool: str | None
    input: JSON
    ids: tuple[JSON, ...]
    kind: str
    """Its type, or the key that it was found by."""

    @property
    def listed_at(self) -> str:
        """The path of the list that it is in."""
        return _write_path(
            self.path[:-1] if self.path[-1:] and self.path[-1].isdigit() else self.path
        )

    def __str__(self) -> str:
        at = f" at `{_write_path(self.path)[:200]}`" if self.path else ""
        return f"`{(self.tool or self.kind)[:80]}`{at}"


def _write_path(path: tuple[str, ...]) -> str:
    """A path that an option can have: a JSON pointer where a key has a dot in it."""
    if all(step and "." not in step and "/" not in step for step in path):
        return ".".join(path)
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)


def seen_calls(answer: Answer) -> list[ToolCall]:
    """Every call of an answer. Raise GraderError where it holds one that was not read."""
    calls = answer.tool_calls
    unread = [each for message in answer.messages for each in unread_in(message, calls)]
    if not unread:
        return calls
    what = "the answer holds what looks like a tool call and was not read"
    raise GraderError("unread-calls", f"{what}: {list_some(unread[:_SHOWN], len(unread))}")


def unread_in(message: Message, read: Iterable[ToolCall]) -> Iterator[str]:
    """What in a message is shaped like a call and not among the calls that were read, in words."""
    noted = message.get(UNREAD)
    if message.role != "assistant" or noted == []:
        return
    yield from map(str, noted or ())
    for shape in find_unread_calls(_searched(message), read):
        yield f"{shape} ({_HINT})"


def find_unread_calls(value: JSON, read: Iterable[ToolCall]) -> list[CallShape]:
    """What in a value is shaped like a call, without those that were read."""
    found = list(find_calls(value))
    if not found:
        return []
    read = list(read)
    ids = {call.id for call in read} - {None}
    known = {write_alike([call.name, call.arguments or {}]) for call in read}
    return [
        each for each in found
        if not any(isinstance(id, str) and id in ids for id in each.ids)
        and write_alike([each.tool, parse_arguments(each.input) or {}]) not in known
    ]  # fmt: skip


def find_calls(value: JSON, path: tuple[str, ...] = ()) -> Iterator[CallShape]:
    """All that is shaped like a call, in order; what is inside of a call is not looked at."""
    waiting: list[tuple[tuple[str, ...], JSON]] = [(path, value)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, list):
            items = [((*path, str(number)), item) for number, item in enumerate(value)]
        elif isinstance(value, dict) and value.get("role") not in _NOT_THE_AGENT:
            shape = _find_shape(path, value)
            if shape is not None:
                yield shape
                continue
            keys = [key for key in value if _holds_calls(key, value[key])]
            for key in keys:
                yield from _shapes_under((*path, key), value[key])
            items = [((*path, key), item) for key, item in value.items() if key not in keys]
        else:
            continue
        waiting += [each for each in reversed(items) if isinstance(each[1], dict | list)]


def understand_calls(found: JSON) -> list[JSON]:
    """The calls of a list, each in a form of ours. Raise BadCallsError if it is none of calls."""
    if not isinstance(found, list):
        raise BadCallsError(f"there is {describe_kind(found)}, and no list of calls")
    return [_read_call(call, number) for number, call in enumerate(found, 1)]


def gather_calls(message: Mapping[str, JSON]) -> list[JSON]:
    """The calls of a message under all names that there are. Raise BadCallsError as above."""
    calls: list[JSON] = []
    for name in CALLS:
        found = message.get(name)
        if found:
            calls += understand_calls([found] if name in SINGLE else found)
    return calls


def is_call_block(value: JSON) -> bool:
    """Whether a content part is a call that is read."""
    if not isinstance(value, dict) or "function" in value:
        return False
    return value.get("type") in (*BLOCKS, "function_call") or _unwrap(value) is not None


def parse_arguments(value: JSON) -> JSON:
    """Arguments are often JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value.encode())
    except (BadJsonError, UnicodeEncodeError):
        return value


def _searched(message: Message) -> JSON:
    """All of a message but for the calls that it has, its text as the JSON that it is."""
    content = message.content
    if isinstance(content, str):
        content = _read_text(content)
    rest = {key: item for key, item in message.items() if key not in _READ}
    return {"content": content, **rest} if rest else content


def _read_text(text: str) -> JSON:
    """The value of a text that is wholly JSON, JSON lines or a stream of events; None of others."""
    text = unfence_text(text)
    if not text.startswith(("{", "[", "data:", "event:", ":")):
        return None
    # Not read strictly: a key that is there twice makes no prose of it.
    with suppress(ValueError, RecursionError):
        value: JSON = json.loads(text)
        return value
    lines = enumerate((line.removeprefix("data:").strip() for line in text.splitlines()), 1)
    with suppress(ValueError, RecursionError):
        return {
            f"line {number}": json.loads(line) for number, line in lines
            if line not in ("", "[DONE]") and not line.startswith(_STREAM_FIELDS)
        }  # fmt: skip
    return None


def _find_shape(path: tuple[str, ...], value: dict[str, Any]) -> CallShape | None:
    kind = value.get("type", value.get("part_kind"))
    kind = kind if isinstance(kind, str) else ""
    function = value.get("function")
    if isinstance(function, dict) and "name" in function and "arguments" in function:
        return _make_shape(path, function, "function", value)
    if _is_type_of_calls(kind, value):
        return _make_shape(path, value, kind, value)
    tool = _find_key(value, _TOOL_NAMES)
    if tool and isinstance(value[tool], str) and _find_key(value, _ARGUMENTS):
        return _make_shape(path, value, "call", value)
    if isinstance(value.get("action"), str) and "action_input" in value:
        return CallShape(path, value["action"], value["action_input"], (), "action")
    if isinstance(value.get("name"), str) and kind in ("", "function") and _has_arguments(value):
        return _make_shape(path, value, "call", value)
    return None


def _is_type_of_calls(kind: str, value: Mapping[str, Any]) -> bool:
    if kind == "web_search":  # Codex; OpenAI's definition of the tool has neither
        return "query" in value or "action" in value
    if kind.startswith("tool-"):  # `tool-NAME` of the AI SDK
        return "toolCallId" in value
    return kind in _TYPES or kind.endswith(("tool_use", "tool_call"))


def _unwrap(value: dict[str, Any]) -> dict[str, Any] | None:
    """The inside of a content part that says by a key that it is a call."""
    if isinstance(value.get("type"), str):
        return None
    if any(value.get(key) is not None for key in ("role", "content", "text", "message", "output")):
        return None  # a message, which has its calls under a key
    wrapped = (value.get(key) for key in _WRAPPERS)
    return next((each for each in wrapped if isinstance(each, dict)), None)


def _make_shape(
    path: tuple[str, ...], value: dict[str, Any], kind: str, around: dict[str, Any]
) -> CallShape:
    tool, given = _find_key(value, _NAMES), _find_key(value, _ARGUMENTS)
    ids = tuple(each[key] for each in (around, value) for key in _IDS if key in each)
    name = value[tool] if tool and isinstance(value[tool], str) else None
    return CallShape(path, name, value[given] if given else None, ids, kind)


def _has_arguments(value: dict[str, Any]) -> bool:
    """Whether there are arguments beside a name that may be of anything."""
    key = _find_key(value, _ARGUMENTS)
    given = value[key] if key else None
    if key in ("input", "parameters") and not value.keys() <= {"name", key, "type", *_IDS}:
        return False  # anything may have these beside other things
    if key == "parameters" and isinstance(given, dict):
        return str(given.get("type")).lower() != "object"  # else it is a schema, and defines a tool
    if isinstance(given, dict):
        return True
    return isinstance(given, str) and (
        key in ("arguments", "args") or isinstance(parse_arguments(given), dict)
    )


def _holds_calls(key: str, value: JSON) -> bool:
    """Whether a key names calls, and what it holds may be some: a number only counts them."""
    if key in _STEPS:
        return isinstance(value, list) and value != []
    if key in _LISTS:
        listed = value if isinstance(value, list) else [value]
        return any(isinstance(each, str) and each != "" for each in listed) or (
            isinstance(value, list) and any(isinstance(each, dict) for each in value)
        )
    if key in _CODE:
        return isinstance(value, dict)
    return key in _WRAPPERS and isinstance(value, dict) and _find_key(value, _NAMES) is not None


def _shapes_under(path: tuple[str, ...], value: JSON) -> Iterator[CallShape]:
    for number, call in enumerate(value if isinstance(value, list) else [value]):
        at = (*path, str(number)) if isinstance(value, list) else path
        if isinstance(call, dict):
            yield _find_shape(at, call) or _make_shape(at, call, path[-1], call)
        elif isinstance(call, str):
            yield CallShape(at, call, None, (), path[-1])
        elif path[-1] in _STEPS:
            yield CallShape(at, None, None, (), path[-1])


def _read_call(call: JSON, number: int) -> JSON:
    """`{tool, input}` and OpenAI's shape are ours already; `{name, args}` is made the first."""
    if not isinstance(call, dict):
        raise BadCallsError(f"call {number} names no tool: a call is {{name, args}}")
    if names_tool(call):
        return call
    custom = call.get("custom")  # as OpenAI has calls of tools without a schema
    inner = custom if isinstance(custom, dict) else _unwrap(call)
    if inner is not None:
        beside = {key: item for key, item in call.items() if key not in (*_WRAPPERS, "custom")}
        call = {**{key: item for key, item in inner.items() if item is not None}, **beside}
    named, used = _find_key(call, ("name", "toolName")), _find_key(call, _ARGUMENTS)
    if named is None or not call[named] or not isinstance(call[named], str):
        raise BadCallsError(f"call {number} names no tool: a call is {{name, args}}")
    given = {} if used is None else {"input": parse_arguments(call[used])}
    rest = {key: item for key, item in call.items() if key not in (named, used, "toolUseId")}
    own_id = {"id": call["toolUseId"]} if "toolUseId" in call else {}
    return {"tool": call[named], **given, **own_id, **rest}


def _find_key(value: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if value.get(name) is not None), None)
