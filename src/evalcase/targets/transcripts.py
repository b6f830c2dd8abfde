"""Reads what coding agents print or keep: each format becomes an answer with its tool calls.

Unknown events are skipped, because agents add new ones often. An unknown event that holds a tool
call is an error: a call that is not read would make `tool_calls: {forbidden: …}` pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, Literal, NamedTuple, get_args

from evalcase.errors import TargetError
from evalcase.targets.base import OVERLOADED, count_of, may_pass, objects_of, part_of
from evalcase.targets.usage import read_usage
from evalcase.types.answer import Answer, Usage, sum_usage
from evalcase.types.message import Message
from evalcase.types.value import JSON
from evalcase.util.calls import CallKind, find_calls, kind_of_tool, parse_arguments
from evalcase.util.json import BadJsonError, parse_json

LONGEST_OUTPUT = 16 * 1024
"""How many characters of a tool's output are kept."""
StreamFormat = Literal[
    "claude-stream-json", "codex-json", "gemini-stream-json", "copilot-jsonl", "opencode-json",
]  # fmt: skip
StoredFormat = Literal[
    "claude-session", "codex-rollout", "copilot-events", "traj", "atif", "agentv-transcript",
]  # fmt: skip
TranscriptFormat = Literal[StreamFormat, StoredFormat]
STORED: tuple[StoredFormat, ...] = get_args(StoredFormat)
FORMATS: tuple[TranscriptFormat, ...] = (*get_args(StreamFormat), *STORED)

_Events = list[dict[str, Any]]
_LAST = ("result", "turn.completed", "turn.failed")
"""The types of the events after which an agent prints nothing."""
_SESSIONS = ("session_id", "sessionId", "sessionID", "thread_id")
_ENDS_WITH_CODE = ("max_turns", "max_cost", "max_time", "refusal")
"""Finish reasons of answers after which an agent may exit with a code other than 0."""
_STATUS = re.compile(
    r"(?:[:(=]\s*|\b(?:status|code|error|HTTP)\s+)([45]\d\d)\b"
    r"|\b([45]\d\d)(?=\s+[A-Z])",  # with its name
)  # fmt: skip
_PASSING = re.compile("connect|overloaded|rate.?limit", re.IGNORECASE)
"""What failures without a status say that may not come again."""


def read_transcript(
    items: str | bytes | Iterable[object], format: TranscriptFormat, *, exit_code: int = 0,
    stopped: str | None = None,
) -> Answer:  # fmt: skip
    """The answer of a coding agent: its text, tool calls, tokens and cost.

    `items` is what the program printed, or the events as objects. Raise TargetError if the agent
    failed, if the transcript has no end, or if it holds tool calls in an unknown form. A limit of
    turns or cost that was reached is an answer, whose `finish_reason` says so. Where the agent was
    `stopped`, this is the finish reason, and no end is needed.
    """
    if format not in _FORMATS:
        raise ValueError(f"`format` is one of {', '.join(FORMATS)}, not {format!r}")
    agent, read = _FORMATS[format]
    events = list(_read_events(items, is_cut=stopped is not None))
    if not events and stopped is None:
        raise TargetError("the agent printed no JSON", kind="protocol")
    transcript = Transcript()
    end = read(events, transcript)
    code = exit_code if end is None or end.exit_code is None else end.exit_code
    if stopped is not None:
        end = (end or End())._replace(finish=stopped)
    elif code and (end is None or end.finish not in _ENDS_WITH_CODE):
        what = f"{agent} failed with exit code {code}"
        raise TargetError(what, kind="exit", details={"exit_code": code})
    elif end is None:
        what = f"the transcript of {agent} has no end: was it cut off?"
        raise TargetError(what, kind="protocol")
    return transcript.answer(end, next(filter(None, map(_find_session, events)), None))


def _find_session(event: dict[str, Any]) -> str | None:
    """The id of the agent's session, where an event has it."""
    holders = (event, *(part_of(event, name) for name in ("payload", "data", "source")))
    names = (*_SESSIONS, "id") if event.get("type") == "session_meta" else _SESSIONS  # of Codex
    found = (each.get(name) for each in holders for name in names)
    return next((each for each in found if isinstance(each, str)), None)


def is_last_event(line: bytes) -> bool:
    """Whether a line of what an agent prints is its last event."""
    if not any(each.encode() in line for each in _LAST):
        return False
    event = (_parse(line.decode("utf-8", "replace")) or [{}])[0]
    return event.get("type") in _LAST and event.get("origin") in (None, "human")


def _read_events(
    items: str | bytes | Iterable[object], *, is_cut: bool
) -> Iterator[dict[str, Any]]:
    """The JSON objects of a transcript. Other lines, such as warnings, are skipped; where it is
    cut, half a line as well."""
    if isinstance(items, bytes):
        items = items.decode("utf-8", "replace")
    if isinstance(items, str):
        whole = _parse(items)
        items = items.split("\n") if whole is None else whole
    for item in items:
        if isinstance(item, str):
            found = _parse(item)
            if found is None and (start := item.find('{"')) >= 0:
                found = _parse(item[start:])  # behind a warning on the same line
                is_event = start == 0 or '"type"' in item
                if found is None and is_event and not is_cut:
                    raise unreadable(f"a line that is not JSON: {item:.80}")
            yield from found or ()
        elif is_dataclass(item):
            yield _event_of_sdk(item)
        elif isinstance(item, dict):
            yield item


def _parse(text: str) -> list[dict[str, Any]] | None:
    """The object or the list of objects that a text is; None for other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = parse_json(text)
    except BadJsonError:
        return None
    return [value] if isinstance(value, dict) else objects_of(value)


def _event_of_sdk(item: object) -> dict[str, Any]:
    """A message of the Claude Agent SDK for Python, as the program prints it: an AssistantMessage
    with a ToolUseBlock is of the type `assistant`, with a `tool_use`."""
    name = type(item).__name__.removesuffix("Message").removesuffix("Block")
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    value = dict(vars(item))
    content = value.get("content")
    if isinstance(content, list):
        value["content"] = [_event_of_sdk(each) for each in content if is_dataclass(each)]
    if kind in ("assistant", "user"):
        parent = value.pop("parent_tool_use_id", None)
        return {"type": kind, "parent_tool_use_id": parent, "message": {"role": kind, **value}}
    if kind == "system":
        return {"type": kind, **part_of(value, "data")}
    return {"type": kind, **value, "modelUsage": value.get("model_usage")}


class End(NamedTuple):
    text: str | None = None
    """The answer; by default, the last text that was said."""
    finish: object = None
    usage: Usage | None = None
    cost_usd: float | None = None
    model: object = None
    exit_code: int | None = None
    """Where the transcript says it."""


class Transcript:
    """Collects the texts and calls of one agent, in order."""

    def __init__(self) -> None:
        self._messages: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}

    def say(self, text: object, parent: object = None) -> None:
        """A text of the agent. What a subagent says is no part of the answer."""
        if text and parent is None:
            self._messages.append({"role": "assistant", "content": str(text)})

    def call(
        self, id: object, tool: object, input: JSON, parent: object = None,
        kind: CallKind | None = None, again: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """A call of a tool; `parent` is the call of the subagent that made it. Some agents tell of
        a call `again` when they make it, and know more then."""
        if not isinstance(tool, str) or not tool:
            raise unreadable(f"a tool call without a name: {json.dumps(input)[:200]}")
        known = self._calls.get(id) if isinstance(id, str) else None
        if known is not None:
            if not again or known["tool"] != tool or "output" in known:
                raise unreadable(f"two calls with the id {id!r:.80}")
            known["input"] = input
            return known
        call: dict[str, Any] = {"tool": tool, "input": input}
        if isinstance(id, str) and id:
            call["id"] = id
            self._calls[id] = call
        if parent is not None:
            call["parent"] = parent
        found = kind or kind_of_tool(tool)
        if found is not None:
            call["kind"] = found
        self._messages.append({"role": "assistant", "tool_calls": [call]})
        return call

    def result(self, id: object, output: object, *, is_error: bool) -> None:
        call = self._calls.get(id) if isinstance(id, str) else None
        if call is None:
            raise unreadable(f"a result of no call: {id!r:.80}")
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        call["output"] = output
        if len(text) > LONGEST_OUTPUT:
            call["output"] = text[:LONGEST_OUTPUT]
            call["output_cut"] = len(text) - LONGEST_OUTPUT
        if is_error:
            call["is_error"] = True

    def deny(self, id: object, tool: object, input: JSON) -> None:
        call = self._calls.get(str(id)) or self.call(id, tool, input)
        call |= {"output": call.get("output", "denied"), "is_error": True, "denied": True}

    def skip(self, event: Mapping[str, Any]) -> None:
        """An event of an unknown type. It must not hold a call."""
        call: object = next(find_calls(dict(event)), None)
        if call is None and isinstance(event.get("name"), str) and "input" in event:
            call = f"`{event['name']:.80}`"
        if call is not None:
            raise unreadable(f"a tool call in an unknown form: {call}")

    def answer(self, end: End, session: str | None) -> Answer:
        messages = self._messages
        last = messages[-1] if messages else {}
        text = str(last.get("content", "")) if end.text is None else end.text
        if last.get("content") == text:
            messages.pop()
        # An empty text, not null: an earlier text is not the answer.
        final: dict[str, Any] = {"role": "assistant", "content": text}
        if isinstance(end.finish, str):
            final["finish_reason"] = end.finish
        said = tuple(Message(each) for each in (*messages, final))
        name = end.model if isinstance(end.model, str) else None
        return Answer(said, end.usage, end.cost_usd, model=name, session=session)


def unreadable(what: str) -> TargetError:
    return TargetError(f"the transcript has {what}", kind="protocol")


def failed(agent: str, said: object, status: object = None) -> TargetError:
    """The error of an agent that says why it failed; the HTTP status may be within the text."""
    what = f"{agent} failed: {said}"[:500]
    found = _STATUS.search(f"status {status}: {said}")
    if found is None:
        return TargetError(what, may_succeed_later=_PASSING.search(str(said)) is not None)
    number = int(found[1] or found[2])
    return TargetError(
        what, kind="http", details={"status": number}, may_succeed_later=may_pass(number),
        overloaded=number in OVERLOADED,
    )  # fmt: skip


def calls_of(value: object) -> list[dict[str, Any]]:
    """Objects that are tool calls, or hold them. Raise TargetError for another shape."""
    found = objects_of(value)
    if value is not None and found != value:
        raise unreadable(f"tool calls in an unknown form: {value!r:.200}")
    return found


def count_tokens(rows: Iterable[JSON]) -> Usage | None:
    """The tokens of all rows that say any."""
    return sum_usage([each for row in rows if (each := read_usage(row, lambda _: None))])


def money_of(value: object) -> float | None:
    """An amount in USD. Agents write 0 for models whose price they don't know."""
    return float(value) if type(value) in (int, float) and value > 0 else None  # type: ignore[operator, arg-type]


def text_of_parts(content: object) -> JSON:
    """The output of a tool: text, or the joined text of content parts."""
    texts = [each.get("text") for each in objects_of(content)]
    if texts and all(isinstance(text, str) for text in texts):
        return "".join(map(str, texts))
    return content  # type: ignore[return-value]


# Claude Code: `claude -p --output-format stream-json --verbose`, and the sessions that it keeps


def _read_claude(events: _Events, transcript: Transcript) -> End | None:
    model: object = None
    stopped: object = None
    end: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        if kind == "system":
            model = model or event.get("model")
        elif kind in ("assistant", "user"):
            message = part_of(event, "message")
            stopped = message.get("stop_reason") or stopped
            _read_blocks(transcript, message, event.get("parent_tool_use_id"))
        elif kind == "result":
            if event.get("origin") in (None, "human"):
                end = event
        elif kind != "stream_event":  # its blocks come again as a whole
            transcript.skip(event)
    if end is None:
        return None
    if not any(event.get("type") == "assistant" for event in events) and not end.get("is_error"):
        hint = "run Claude Code with --output-format stream-json --verbose"
        raise unreadable(f"no messages, so its tool calls are unknown: {hint}")
    for denied in objects_of(end.get("permission_denials")):
        transcript.deny(
            denied.get("tool_use_id"), denied.get("tool_name"), denied.get("tool_input")
        )
    return _end_claude({"stop_reason": stopped, **end}, model)


def _read_blocks(transcript: Transcript, message: Mapping[str, Any], parent: object) -> None:
    content = message.get("content")
    is_agents = message.get("role") == "assistant"
    if isinstance(content, str):
        transcript.say(content if is_agents else None, parent)
        return
    for block in calls_of([content] if isinstance(content, dict) else content):
        kind = str(block.get("type"))
        if kind == "text":
            transcript.say(block.get("text") if is_agents else None, parent)
        elif kind.endswith("tool_use"):
            transcript.call(block.get("id"), block.get("name"), block.get("input"), parent)
        elif kind.endswith("tool_result"):
            output = block.get("content")
            is_error = str(part_of(output).get("type", "")).endswith("_error")
            is_error = is_error or bool(block.get("is_error"))
            transcript.result(block.get("tool_use_id"), text_of_parts(output), is_error=is_error)
        elif kind not in ("thinking", "redacted_thinking", "image", "document"):
            transcript.skip(block)


_CLAUDE_LIMITS = {"error_max_turns": "max_turns", "error_max_budget_usd": "max_cost"}


def _end_claude(end: Mapping[str, Any], model: object) -> End:
    subtype, reason = end.get("subtype"), end.get("stop_reason")
    limit = _CLAUDE_LIMITS.get(str(subtype))
    is_error = end.get("is_error") or subtype != "success"
    if limit is None and is_error and reason != "refusal":
        said = end.get("result") or end.get("errors") or subtype
        raise failed("Claude Code", said, end.get("api_error_status"))
    # `usage` leaves out subagents, so `modelUsage` comes first.
    by_model = [part_of(each) for each in part_of(end, "modelUsage").values()]
    usage = count_tokens(by_model or [part_of(end, "usage")])
    text, cost_usd = end.get("result"), money_of(end.get("total_cost_usd"))
    return End(text if isinstance(text, str) else None, limit or reason, usage, cost_usd, model)


def _read_claude_session(events: _Events, transcript: Transcript) -> End | None:
    """`~/.claude/projects/…/ID.jsonl`, which has no event of its own for the end."""
    model: object = None
    finish: object = None
    used: dict[str, dict[str, Any]] = {}
    last: dict[str, Any] | None = None
    for line in events:
        event, parent = line, line.get("parentToolUseID")
        if line.get("type") == "progress" and parent is not None:  # what a subagent does
            event = {**part_of(line, "data", "message"), "agentId": parent}
        message, kind = part_of(event, "message"), event.get("type")
        if kind not in ("assistant", "user"):
            if kind not in ("system", "summary", "file-history-snapshot", "progress"):
                transcript.skip(event)
            continue
        subagent = event.get("agentId") or ("sidechain" if event.get("isSidechain") else None)
        _read_blocks(transcript, message, subagent)
        if kind == "assistant":
            used[str(message.get("id") or len(used))] = part_of(message, "usage")
            if subagent is None:
                last, model, finish = event, message.get("model"), message.get("stop_reason")
    if last is None:
        return None
    if last.get("isApiErrorMessage"):
        raise failed("Claude Code", text_of_parts(part_of(last, "message").get("content")))
    return End(None, finish, count_tokens(used.values()), None, model)


# Codex: `codex exec --json`, and `~/.codex/sessions/…/rollout-*.jsonl`


def _read_codex(events: _Events, transcript: Transcript) -> End | None:
    end: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        if kind in ("item.started", "item.completed"):
            item, is_done = part_of(event, "item"), kind == "item.completed"
            _read_codex_item(transcript, item, is_done=is_done)
        elif kind == "turn.started":
            end = None
        elif kind == "turn.completed":
            end = event  # its usage is the total of the thread
        elif kind == "turn.failed":
            raise failed("Codex", part_of(event, "error").get("message"))
        elif kind not in ("item.updated", "error"):
            transcript.skip(event)
    return None if end is None else End(usage=count_tokens([part_of(end, "usage")]))


def _read_codex_item(transcript: Transcript, item: Mapping[str, Any], *, is_done: bool) -> None:
    kind, id = item.get("type"), item.get("id")
    tool, output = kind, item.get("status")
    given: JSON = None
    of_kind: CallKind | None = None
    is_error = output in ("failed", "declined")
    if kind == "agent_message":
        transcript.say(item.get("text") if is_done else None)
        return
    if kind == "command_execution":
        given, output = {"command": item.get("command")}, item.get("aggregated_output")
        is_error = is_error or item.get("exit_code") not in (0, None)
    elif kind == "file_change":
        given = {"changes": item.get("changes")}
    elif kind == "mcp_tool_call":
        tool, given, of_kind = item.get("tool"), item.get("arguments"), "mcp"
        output = item.get("error") or text_of_parts(part_of(item, "result").get("content"))
        is_error = is_error or item.get("error") is not None
    elif kind == "web_search":
        given = {"query": item.get("query")}
    elif kind == "collab_tool_call":
        given = {key: each for key, each in item.items() if key not in ("id", "type", "status")}
    else:
        if kind not in ("reasoning", "todo_list", "error"):
            transcript.skip(item)
        return
    transcript.call(id, tool, given, kind=of_kind, again=is_done)
    if is_done:
        transcript.result(id, output, is_error=is_error)


_CODEX_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)$", re.MULTILINE)


def _read_codex_rollout(events: _Events, transcript: Transcript) -> End | None:
    model: object = None
    total: dict[str, Any] = {}
    is_said = False
    for event in events:
        kind, item = event.get("type"), part_of(event, "payload")
        if kind == "response_item":
            _read_response_item(transcript, item)
            is_said = is_said or item.get("role") == "assistant"
        elif kind == "turn_context":
            model = item.get("model")
        elif kind == "event_msg":  # what the response items say, once more
            if item.get("type") in ("error", "turn_aborted"):
                raise failed("Codex", item.get("message") or item.get("reason"))
            total = part_of(item, "info", "total_token_usage") or total
        elif kind not in ("session_meta", "compacted"):
            transcript.skip(event)
    return End(usage=count_tokens([total]), model=model) if is_said else None


def _read_response_item(transcript: Transcript, item: Mapping[str, Any]) -> None:
    kind, id = str(item.get("type")), item.get("call_id") or item.get("id")
    if kind == "message":
        if item.get("role") == "assistant":
            transcript.say(text_of_parts(item.get("content")))
    elif kind in ("function_call", "custom_tool_call"):
        given = parse_arguments(item.get("arguments", item.get("input")))
        transcript.call(id, item.get("name"), given)
    elif kind in ("local_shell_call", "web_search_call"):
        given = part_of(item, "action")
        transcript.call(id, kind.removesuffix("_call"), given)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = item.get("output")
        inner = part_of(parse_arguments(output))
        code = part_of(inner, "metadata").get("exit_code")
        text = text_of_parts(inner.get("output", inner.get("content", output)))
        is_error = code not in (0, None) or inner.get("success") is False
        said = _CODEX_EXIT.search(str(text).partition("Output:\n")[0])
        is_error = is_error or (said is not None and said[1] != "0")
        transcript.result(id, text, is_error=is_error)
    elif kind != "reasoning":
        transcript.skip(item)


# Gemini CLI: `gemini -o stream-json`


def _read_gemini(events: _Events, transcript: Transcript) -> End | None:
    model: object = None
    end: dict[str, Any] | None = None
    text = ""
    for event in events:
        kind = event.get("type")
        if kind == "message":
            if event.get("role") == "assistant":
                text += str(event.get("content", ""))
            continue
        if kind in ("tool_use", "tool_result"):
            transcript.say(text)
            text = ""
        if kind == "init":
            model = event.get("model")
        elif kind == "tool_use":
            transcript.call(event.get("tool_id"), event.get("tool_name"), event.get("parameters"))
        elif kind == "tool_result":
            is_error = event.get("status") == "error" or event.get("error") is not None
            output = event.get("output") or part_of(event, "error").get("message")
            transcript.result(event.get("tool_id"), output, is_error=is_error)
        elif kind == "result":
            end = event
        else:
            transcript.skip(event)
    transcript.say(text)
    if end is None:
        return None
    error, stats = part_of(end, "error"), part_of(end, "stats")
    limited = error.get("type") == "FatalTurnLimitedError"
    if end.get("status") != "success" and not limited:
        raise failed("Gemini CLI", error.get("message"))
    given, total = count_of(stats.get("input_tokens")), count_of(stats.get("total_tokens"))
    # `output_tokens` leaves out thoughts, which the total has.
    output = count_of(total - given) if total is not None and given is not None else None
    usage = Usage(given, output, count_of(stats.get("cached")))
    return End(None, "max_turns" if limited else "stop", usage, None, model)


# GitHub Copilot: `copilot -p … --output-format json`, in two dialects, and `events.jsonl`


def _read_copilot(events: _Events, transcript: Transcript) -> End | None:
    end: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        data = part_of(event, "data") or event
        id = data.get("toolCallId") or data.get("tool_call_id") or data.get("id")
        parent = data.get("parentToolCallId")
        if kind == "assistant.message":
            transcript.say(data.get("content"), parent)
            for call in calls_of(data.get("toolRequests")):
                given = call.get("arguments")
                transcript.call(call.get("toolCallId"), call.get("name"), given, parent)
        elif kind == "tool.execution_start":
            transcript.call(id, data.get("toolName"), data.get("arguments"), parent, again=True)
        elif kind == "tool.execution_complete":
            is_error = data.get("success") is False
            output = data.get("error") if is_error else part_of(data, "result").get("content")
            transcript.result(id, output, is_error=is_error)
        elif kind == "skill.invoked":
            transcript.call(event.get("id"), "skill", {"skill": data.get("name")})
        elif kind == "message":
            if data.get("role") == "assistant":
                transcript.say(text_of_parts(data.get("content")))
        elif kind == "tool_use":
            transcript.call(id, data.get("name"), data.get("input"))
        elif kind == "tool_result":
            output = text_of_parts(data.get("content"))
            is_error = bool(data.get("is_error"))
            transcript.result(data.get("tool_use_id") or id, output, is_error=is_error)
        elif kind in ("result", "session.shutdown"):
            end = data
        elif kind == "session.error":
            raise failed("Copilot", data.get("message"), data.get("statusCode"))
        elif kind != "assistant.tool_call_delta":  # the call comes again as a whole
            transcript.skip(event)
    if end is None:
        return None
    models = part_of(end, "modelMetrics")
    used = [part_of(each, "usage") for each in models.values()]
    code = count_of(end.get("exitCode"))
    return End(
        finish="stop", usage=count_tokens(used), model=next(iter(models), None), exit_code=code
    )


# opencode: `opencode run --format json`


def _read_opencode(events: _Events, transcript: Transcript) -> End | None:
    steps: list[dict[str, Any]] = []
    for event in events:
        part = part_of(event, "part")
        match event.get("type"):
            case "text":
                transcript.say(part.get("text"))
            case "tool_use":
                state, id = part_of(part, "state"), part.get("callID")
                transcript.call(id, part.get("tool"), state.get("input"))
                is_error = state.get("status") == "error"
                output = state.get("error" if is_error else "output")
                transcript.result(id, output, is_error=is_error)
            case "step_finish":
                steps.append(part)
            case "error":
                error = part_of(event, "error", "data")
                raise failed("opencode", error.get("message"), error.get("statusCode"))
            case "step_start" | "reasoning":
                pass
            case _:
                transcript.skip(event)
    if not steps:
        return None
    costs = [money_of(step.get("cost")) for step in steps]
    known = [each for each in costs if each is not None]
    # Input leaves out what the cache read, and output leaves out reasoning.
    rows = [
        {
            "input_tokens": part_of(step, "tokens").get("input"),
            "cache_read_input_tokens": part_of(step, "tokens", "cache").get("read"),
            "cache_creation_input_tokens": part_of(step, "tokens", "cache").get("write"),
            "output_tokens": part_of(step, "tokens").get("output"),
            "thoughts_token_count": part_of(step, "tokens").get("reasoning"),
        }
        for step in steps
    ]
    usage = count_tokens(rows)
    return End(None, steps[-1].get("reason"), usage, sum(known) if known == costs else None)


# mini-swe-agent: the file that `mini -o FILE` writes

_MINI_LIMITS = {"LimitsExceeded": "max_turns", "TimeExceeded": "max_time"}


def _read_mini(events: _Events, transcript: Transcript) -> End | None:
    whole = events[-1] if events else {}
    usages: list[dict[str, Any]] = []
    pending: list[str] = []
    said = ""
    for number, message in enumerate(calls_of(whole.get("messages"))):
        extra = part_of(message, "extra")
        if message.get("role") == "assistant":
            text = message.get("content")
            said = text if isinstance(text, str) else ""
            transcript.say(said)
            for index, action in enumerate(calls_of(extra.get("actions"))):
                id = str(action.get("tool_call_id") or f"{number}-{index}")
                transcript.call(id, "bash", {"command": action.get("command")})
                pending.append(id)
            usages.append(part_of(extra, "response", "usage"))
        elif "raw_output" in extra and pending:
            id = str(message.get("tool_call_id") or pending[0])
            pending = [each for each in pending if each != id]
            # The command that submits is never run.
            is_run = extra.get("exception_info") != "action was not executed"
            is_error = is_run and extra.get("returncode") not in (0, None)
            transcript.result(id, extra.get("raw_output"), is_error=is_error)
    said_by = [each for each in calls_of(whole.get("messages")) if each.get("role") == "assistant"]
    if said_by and not any("actions" in part_of(each, "extra") for each in said_by):
        raise unreadable("commands in an unknown form: was it written by mini-swe-agent 1?")
    info = part_of(whole, "info")
    if "messages" not in whole or info.get("exit_status") is None:
        return None
    status = str(info["exit_status"])
    if status != "Submitted" and status not in _MINI_LIMITS:
        raise failed("mini-swe-agent", status)
    usage = count_tokens(usages)
    is_known = all("prompt_tokens" in each for each in usages)
    cost_usd = money_of(part_of(info, "model_stats").get("instance_cost"))
    # What it submits is empty unless it was told to print something.
    text = str(info.get("submission") or "") or (said if status == "Submitted" else "")
    return End(text, _MINI_LIMITS.get(status, "stop"), usage if is_known else None, cost_usd)


# ATIF, the trajectory format of Harbor, and the transcripts of AgentV


def _read_atif(events: _Events, transcript: Transcript) -> End | None:
    whole = events[-1] if events else {}
    if "steps" not in whole:
        return None
    for step in calls_of(whole.get("steps")):
        if step.get("is_copied_context"):
            continue
        if step.get("source") != "agent":
            transcript.skip(step)
            continue
        transcript.say(text_of_parts(step.get("message")))
        for call in calls_of(step.get("tool_calls")):
            id = call.get("tool_call_id")
            transcript.call(id, call.get("function_name"), call.get("arguments"))
        for result in objects_of(part_of(step, "observation").get("results")):
            if result.get("source_call_id") is not None:
                output = text_of_parts(result.get("content"))
                transcript.result(result["source_call_id"], output, is_error=False)
    metrics = part_of(whole, "final_metrics")
    model = part_of(whole, "agent").get("model_name")
    cost_usd = money_of(metrics.get("total_cost_usd"))
    return End(None, None, count_tokens([metrics]), cost_usd, model)


def _read_agentv(events: _Events, transcript: Transcript) -> End | None:
    tests = {str(event.get("test_id")) for event in events}
    if len(tests) > 1:
        raise unreadable(f"several tests: {', '.join(sorted(tests))}")
    for number, event in enumerate(events):
        if event.get("role") != "assistant":
            continue
        transcript.say(text_of_parts(event.get("content")))
        for index, call in enumerate(calls_of(event.get("tool_calls"))):
            id = str(call.get("id") or f"{number}-{index}")
            transcript.call(id, call.get("tool"), call.get("input"))
            if "output" in call:
                is_error = call.get("status") in ("error", "failed")
                transcript.result(id, call["output"], is_error=is_error)
    if not any(event.get("role") == "assistant" for event in events):
        return None
    row = events[-1]
    used = [part_of(row, "transcript_token_usage")]
    usage = count_tokens(used)
    return End(usage=usage, cost_usd=money_of(row.get("transcript_cost_usd")))


_FORMATS: dict[str, tuple[str, Callable[[_Events, Transcript], End | None]]] = {
    "claude-stream-json": ("Claude Code", _read_claude),
    "codex-json": ("Codex", _read_codex),
    "gemini-stream-json": ("Gemini CLI", _read_gemini),
    "copilot-jsonl": ("Copilot", _read_copilot),
    "opencode-json": ("opencode", _read_opencode),
    "claude-session": ("Claude Code", _read_claude_session),
    "codex-rollout": ("Codex", _read_codex_rollout),
    "copilot-events": ("Copilot", _read_copilot),
    "traj": ("mini-swe-agent", _read_mini),
    "atif": ("the agent", _read_atif),
    "agentv-transcript": ("the agent", _read_agentv),
}
"""Whose each format is; and what collects texts and calls, and returns the end, if there is one."""
