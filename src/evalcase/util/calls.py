"""The tool calls of an answer, in the forms of many libraries; and the steps of a trace in words.

A grader must not overlook a call: `tool_calls: {forbidden: […]}` would pass. So it takes calls from
`seen_calls`, which raises where the answer holds anything shaped like a call that evalcase did not
read as one: in data, or in text that is JSON, JSON lines or a stream of events, a mapping with the
name of a tool beside arguments, or with a known type. Prose is never searched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple, get_args

from evalcase.errors import GraderError
from evalcase.types.answer import Answer
from evalcase.types.message import Message, Step, ToolCall, names_tool
from evalcase.types.value import JSON, canonical_text, describe_kind
from evalcase.util.answers import unfence_text
from evalcase.util.json import BadJsonError, parse_json, write_path
from evalcase.util.text import arguments_text, list_some, shorten_text

UNREAD = "unread_calls"
"""The key of a message under which a target lists the calls that it could not read. An empty list
says that there are none."""

SINGLE = ("functionCall", "function_call")
CALLS = ("tool_calls", "toolCalls", "function_calls", "functionCalls", *SINGLE)
"""Keys of a message for its calls, in forms that evalcase reads."""
_WRAPPERS = (*SINGLE, "toolUse", "toolCall", "tool_call", "toolInvocation")
"""Keys of one call: `{functionCall: {name, args}}` of Gemini, `{toolUse: …}` of Bedrock."""
_LISTS = (
    *CALLS[:4], "invalid_tool_calls", "tool_call_chunks", "toolInvocations", "toolRequests",
    "executed_tools", "invocationInputs",
)  # fmt: skip
"""Keys of lists of calls."""
_STEPS = ("intermediate_steps", "intermediateSteps")
"""Keys of LangChain's pairs of a call and its result, which may be texts."""
_CODE = ("executableCode", "executable_code")

BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call"})
"""Types of content parts that are calls: of Anthropic, of LangChain and of the AI SDK."""
_TYPE = re.compile(
    r"""
    [\w.-]*(?:tool|function|mcp|search|computer|interpreter|generation|shell|patch)s?
        [_./-](?:call|use|invocation|execution)(?:[_.-](?:item|chunk|start|begin|complete))?
    | on_tool_start | dynamic-tool | mcp_approval_request | command_execution | file_change
    | (?:exec_command|patch_apply)_(?:begin|end)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The types of calls: of OpenAI, Anthropic and Mistral, of LangChain, pydantic-ai, the AI SDK,
AG-UI and MCP, and of the events of Codex and Copilot. Results have other types."""
_KINDS = ("type", "part_kind", "block_type", "item_type", "event", "method", "sessionUpdate")
"""Keys for the type of a mapping."""
_TOOL_NAMES = (
    "tool", "tool_name", "toolName", "function_name", "functionName", "recipient_name",
)  # fmt: skip
_NAMES = ("name", *_TOOL_NAMES)
_ARGUMENTS = (
    "input", "args", "arguments", "parameters", "tool_input", "toolInput", "tool_args",
    "tool_kwargs", "kwargs", "params", "raw_input",
)  # fmt: skip
_BESIDE_CALLS = frozenset({
    "id", "type", "output", "result", "status", "error", "duration_s", "duration_ms", "call_id",
    "tool_call_id",
})  # fmt: skip
_PAIRS = (
    ("action", "action_input"), ("action", "args"), ("function", "arguments"),
    ("tool_name_0", "tool_args_0"),
)  # fmt: skip
"""Keys for a name and its arguments in other forms; DSPy numbers the steps of one mapping."""
_CALL_IDS = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "callID", "tool_id")
_IDS = ("id", *_CALL_IDS)
_NOT_THE_AGENT = ("user", "system", "developer", "tool", "function")

_READ = frozenset({"role", "content", "tool_calls", UNREAD})
_SHOWN = 3
_HINT = (
    'a message with calls is {"role": "assistant", "tool_calls": [{"tool": …, "input": {…}}]}, and '
    "`unread_calls: []` in it says that there are no others"
)
_STREAM_FIELDS = ("event:", "id:", "retry:", ":")
_STARTS = ("{", "[", "data:", *_STREAM_FIELDS)

CallKind = Literal["shell", "read", "edit", "search", "web", "mcp", "skill", "agent"]
CALL_KINDS: tuple[CallKind, ...] = get_args(CallKind)
_TOOLS: dict[CallKind, str] = {
    "shell": "Bash bash shell run_shell_command command_execution exec exec_command local_shell "
    "shell_command write_stdin container.exec",
    "read": "Read read read_file read_many_files view view_image",
    "edit": "Write Edit MultiEdit NotebookEdit write edit patch write_file replace create "
    "str_replace file_change apply_patch",
    "search": "Grep Glob LS grep glob list search_file_content ls",
    "web": "WebFetch WebSearch webfetch web_fetch web_search google_web_search",
    "skill": "Skill skill activate_skill",
    "agent": "Task Agent task collab_tool_call spawn_agent",
}
_KIND_OF_TOOL = {name: kind for kind, names in _TOOLS.items() for name in names.split()}
"""What the tools of coding agents do."""


def kind_of_tool(name: str) -> CallKind | None:
    """What a tool of a coding agent does, by its name; None where that is unknown."""
    return "mcp" if name.startswith(("mcp__", "mcp_")) else _KIND_OF_TOOL.get(name)


class BadCallsError(ValueError):
    """The calls of a reply can't be read."""


class CallShape(NamedTuple):
    """A value that is shaped like a call."""

    path: tuple[str, ...]
    tool: str | None
    input: JSON
    ids: tuple[JSON, ...]
    kind: str
    """Its type, or the key that holds it."""

    def __str__(self) -> str:
        at = f" at `{write_path(self.path)[:200]}`" if self.path else ""
        return f"`{(self.tool or self.kind)[:80]}`{at}"


def seen_calls(answer: Answer, *, whole: bool = True) -> list[ToolCall]:
    """Every call of an answer, in its messages or in its trace. Raise GraderError where it holds
    one that was not read, or, if inputs have to be `whole`, one whose input was cut."""
    calls = answer.tool_calls
    unread = list_unread_calls(answer, calls)
    if not unread:
        return [*calls, *traced_calls(answer, whole=whole)] if answer.steps else calls
    what = "the answer holds what looks like a tool call and was not read"
    named = list_some(unread[:_SHOWN], len(unread))
    raise GraderError("unread-calls", f"{what}: {named}; {_HINT}")


def traced_calls(answer: Answer, *, whole: bool = True) -> list[ToolCall]:
    """The calls that only the trace of an answer shows: steps that are calls of tools, by their
    kind, and that no call in the messages stands for."""
    steps: list[Step] = []
    parents: dict[int, str | None] = {}
    for step in answer.steps:
        parents[step.depth] = step.tool
        is_repeated = step.depth > 0 and parents.get(step.depth - 1) == step.tool
        if step.tool is not None and not is_repeated:  # two instrumentations may record one call
            steps.append(step)
    # A call and its span may show its input in two forms: equal inputs match first, then names.
    own = answer.tool_calls
    for by_input in (True, False):
        left = []
        for step in steps:
            alike = (call for call in own if call.name == step.tool)
            if by_input:
                wanted = canonical_text(step.input)
                alike = (call for call in alike if canonical_text(call.arguments) == wanted)
            if (same := next(alike, None)) is None:
                left.append(step)
            else:
                own.remove(same)
        steps = left
    for step in steps:
        if whole and step.is_cut:
            why = f"the step `{step.name}` was given more than is kept of it"
            raise GraderError("unread-calls", why)
    return [
        ToolCall({
            "tool": step.tool, **({} if step.input is None else {"input": step.input}),
            **({} if step.error is None else {"is_error": True}),
        })
        for step in sorted(steps, key=lambda step: step.start_s)
    ]  # fmt: skip


def list_unread_calls(answer: Answer, calls: Iterable[ToolCall]) -> list[str]:
    """What in an answer is shaped like a call and not among `calls`, in words."""
    read = ReadCalls(calls)
    return [each for message in answer.messages for each in unread_in(message, read)]


def unread_in(message: Message, read: ReadCalls) -> Iterator[str]:
    """The same of one message."""
    noted = message.get(UNREAD)
    if message.role != "assistant" or noted == []:
        return
    yield from map(str, noted if isinstance(noted, list) else ())
    yield from (str(shape) for shape in find_calls(_searched(message)) if shape not in read)


class ReadCalls:
    """The calls that evalcase read. A reply may hold the same call several times."""

    def __init__(self, calls: Iterable[ToolCall]) -> None:
        self._tools: dict[str, str] = {}
        """The tools by the ids of their calls."""
        self._said: dict[str, bool] = {}
        """Each call as text, and whether one of them has no id."""
        for call in calls:
            text, has_id = canonical_text([call.name, call.arguments or {}]), False
            if isinstance(call.id, str):
                self._tools[call.id], has_id = call.name, True
            self._said[text] = self._said.get(text, False) or not has_id

    def __contains__(self, shape: CallShape) -> bool:
        ids = [id for id in shape.ids if isinstance(id, str)]
        if any(id in self._tools and shape.tool in (None, self._tools[id]) for id in ids):
            return True
        said = canonical_text([shape.tool, parse_arguments(shape.input) or {}])
        return self._said.get(said, False) if ids else said in self._said


def find_calls(value: JSON, path: tuple[str, ...] = ()) -> Iterator[CallShape]:
    """All that is shaped like a call, in order, without what is inside of a call."""
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


def understand_calls(found: JSON) -> list[dict[str, Any]]:
    """The calls of a list in the forms of ToolCall. Raise BadCallsError for anything else."""
    if not isinstance(found, list):
        raise BadCallsError(f"there is {describe_kind(found)}, and no list of calls")
    return [_read_call(call, number) for number, call in enumerate(found, 1)]


def gather_calls(message: Mapping[str, JSON]) -> list[dict[str, Any]]:
    """The calls of a message under all keys of CALLS. Raise BadCallsError as above."""
    calls: list[dict[str, Any]] = []
    for name in CALLS:
        found = message.get(name)
        if found:
            known = ReadCalls(map(ToolCall, calls))
            for call in understand_calls([found] if name in SINGLE else found):
                made = ToolCall(call)
                shape = CallShape((), made.name, made.arguments, (made.id,), "call")
                if shape not in known:
                    calls.append(call)
    return calls


def is_call_block(value: JSON) -> bool:
    """Whether a content part is a call that evalcase reads."""
    if not isinstance(value, dict) or "function" in value:
        return False
    return value.get("type") in (*BLOCKS, "function_call") or _unwrap(value) is not None


def parse_arguments(value: JSON) -> JSON:
    """The value of arguments, which are often a text of JSON."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value.encode())
    except (BadJsonError, UnicodeEncodeError):
        return value


def _searched(message: Message) -> JSON:
    """A message without its calls, and with the value of a text that is JSON."""
    content = message.content
    if isinstance(content, str):
        content = _read_text(content)
    elif message.text:
        content = [content, _read_text(message.text)]
    rest = {key: item for key, item in message.items() if key not in _READ}
    return {"content": content, **rest} if rest else content


def _read_text(text: str) -> JSON:
    """The value of a text that is JSON, JSON lines or a stream of events; None of others."""
    text = unfence_text(text.removeprefix("\ufeff"))
    value = _parse_leniently(text) if text.startswith(_STARTS) else None
    if value is not None or ("{" not in text and "[" not in text):
        return value
    lines = [line.removeprefix("data:").strip() for line in text.split("\n")]
    lines = ["" if each.startswith((*_STREAM_FIELDS, "[DONE]")) else each for each in lines]
    found: dict[str, JSON] = {}
    others = 0
    for number, line in enumerate(lines, 1):
        value = _parse_leniently(line) if line.startswith(("{", "[")) else None
        if value is not None:
            found[f"line {number}"] = value
        others += bool(line) and value is None
    if not others:
        return found
    # Programs log beside what they print: events among a few other lines are still events.
    is_log = all(isinstance(each, dict) and "type" in each for each in found.values())
    return found if is_log and others <= len(found) else None


def _parse_leniently(text: str) -> JSON:
    """The value of JSON, also with duplicate keys or huge numbers; None for other text."""
    with suppress(ValueError, RecursionError):
        value: JSON = json.loads(text, parse_int=lambda digits: int(digits[:100]))
        return value
    return None


def _find_shape(path: tuple[str, ...], value: dict[str, Any]) -> CallShape | None:
    function = value.get("function")
    if isinstance(function, dict) and "name" in function and "arguments" in function:
        return _make_shape(path, function, "function", value)
    kinds = [value[key] for key in _KINDS if isinstance(value.get(key), str)]
    kind = next((kind for kind in kinds if _is_type_of_calls(kind, value)), None)
    if kind is not None or _names_tool_beside_arguments(value, kinds):
        return _make_shape(path, value, kind or "call", value)
    for name, given in _PAIRS:
        if isinstance(value.get(name), str) and given in value:
            return CallShape(path, value[name], value[given], (), name)
    return None


def _names_tool_beside_arguments(value: dict[str, Any], kinds: list[str]) -> bool:
    tool = _find_key(value, _TOOL_NAMES)
    if tool and isinstance(value[tool], str):
        return not value.keys().isdisjoint((*_ARGUMENTS, *_CALL_IDS))
    return isinstance(value.get("name"), str) and _has_arguments(value, kinds)


def _is_type_of_calls(kind: str, value: Mapping[str, Any]) -> bool:
    if kind == "web_search":  # Codex; OpenAI's definition of the tool has neither
        return "query" in value or "action" in value
    if kind.startswith("response."):  # events of OpenAI's Responses API
        return "_call" in kind
    is_part = kind.startswith("tool-") and "toolCallId" in value  # `tool-NAME` of the AI SDK
    return is_part or _TYPE.fullmatch(kind) is not None


def _unwrap(value: dict[str, Any]) -> dict[str, Any] | None:
    """The call inside of a content part such as `{functionCall: {…}}`."""
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


def _has_arguments(value: dict[str, Any], kinds: list[str]) -> bool:
    """Whether a mapping with a `name` has arguments. One with a `description` or a schema defines
    a tool; only the key `arguments` is clear by itself."""
    key = _find_key(value, _ARGUMENTS)
    given = value[key] if key else None
    if isinstance(given, str):
        given = given if key == "arguments" else parse_arguments(given)
    if "description" in value or not isinstance(given, dict | str):
        return False
    if key == "arguments":
        return True
    if not isinstance(given, dict) or kinds not in ([], ["function"]):
        return False
    if "properties" in given or str(given.get("type")).lower() == "object":
        return False
    return key == "args" or (value.keys() <= {"name", key, *_BESIDE_CALLS} and given != {})


def _holds_calls(key: str, value: JSON) -> bool:
    """Whether a key names calls, and its value may hold some."""
    if isinstance(value, dict):
        is_call = key in _WRAPPERS and _find_key(value, _NAMES) is not None
        return is_call or key in _CODE or key.endswith("ToolCall")
    if isinstance(value, str):
        return key in _LISTS and value.lower() not in ("", "none", "null", "no")
    if not isinstance(value, list):
        return False
    may_be = any(isinstance(each, dict | str | list) for each in value)
    return (key in _LISTS and may_be) or (key in _STEPS and value != [])


def _shapes_under(path: tuple[str, ...], value: JSON) -> Iterator[CallShape]:
    for number, call in enumerate(value if isinstance(value, list) else [value]):
        at = (*path, str(number)) if isinstance(value, list) else path
        if isinstance(call, dict):
            yield _find_shape(at, call) or _make_shape(at, call, path[-1], call)
        elif isinstance(call, str):
            yield CallShape(at, call, None, (), path[-1])
        elif isinstance(call, list) or path[-1] in _STEPS:
            inner = list(find_calls(call, at))
            yield inner[0] if inner else CallShape(at, None, None, (), path[-1])


def _read_call(call: JSON, number: int) -> dict[str, Any]:
    """`{tool, input}` and OpenAI's shape stay; `{name, args}` and others become the first."""
    if not isinstance(call, dict):
        raise BadCallsError(f"call {number} names no tool: a call is {{name, args}}")
    used = _find_key(call, _ARGUMENTS)
    if names_tool(call) and ("tool" not in call or "input" in call or used is None):
        return call
    custom = call.get("custom")  # OpenAI's calls of tools without a schema
    inner = custom if isinstance(custom, dict) else _unwrap(call)
    if inner is not None:
        beside = {key: item for key, item in call.items() if key not in (*_WRAPPERS, "custom")}
        call = {**{key: item for key, item in inner.items() if item is not None}, **beside}
    named, used = _find_key(call, ("tool", "name", "toolName")), _find_key(call, _ARGUMENTS)
    tool = call[named] if named else None
    if not tool or not isinstance(tool, str):
        raise BadCallsError(f"call {number} names no tool: a call is {{name, args}}")
    read: dict[str, Any] = {"tool": tool}
    if used is not None:
        read["input"] = parse_arguments(call[used])
    if "toolUseId" in call:
        read["id"] = call["toolUseId"]
    return read | {key: call[key] for key in call if key not in (named, used, "toolUseId")}


def _find_key(value: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if value.get(name) is not None), None)


def list_steps(steps: Sequence[Step], cut: int) -> list[str]:
    """A tree of steps, a line each, indented by its depth; `cut` more were left out."""
    shown = steps[:60]
    lines = ["  " * min(step.depth, 10) + _describe_step(step) for step in shown]
    left = len(steps) - len(shown) + cut
    return [*lines, f"and {left:,} more"] if left else lines


def _describe_step(step: Step) -> str:
    told = [step.name]
    if step.duration_s is not None:
        told.append(f"{step.duration_s:.2f} s")
    tokens = step.input_tokens, step.output_tokens
    if tokens != (None, None):
        given, got = ["?" if each is None else f"{each:,}" for each in tokens]
        told.append(f"{given} tokens in, {got} out")
    if isinstance(step.input, dict) and step.input:
        told.append(shorten_text(arguments_text(step.input), 120))
    if step.error is not None:
        told.append(f"failed: {step.error}" if step.error else "failed")
    return ", ".join(told)
