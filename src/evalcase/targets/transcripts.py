"""Reads what coding agents print or keep: each format becomes an answer with its tool calls.

Unknown events are skipped, because agents add new ones often. An unknown event that holds a tool
call is an error: a call that is not read would make `tool_calls: {forbidden: …}` pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, NamedTuple, get_args

from evalcase.errors import TargetError
from evalcase.targets.agent_messages import (
    OVERLOADED,
    End,
    Transcript,
    calls_of,
    count_of,
    count_tokens,
    failed,
    money_of,
    object_of,
    objects_of,
    text_of_parts,
    unreadable,
)
from evalcase.types.answer import Answer, Usage
from evalcase.types.value import JSON, replace
from evalcase.util.calls import CallKind, parse_arguments
from evalcase.util.json import BadJsonError, parse_json

StreamFormat = Literal[
    "claude-stream-json", "codex-json", "gemini-stream-json", "copilot-jsonl", "opencode-json",
]  # fmt: skip
"""What agents print."""
StoredFormat = Literal[
    "claude-session", "codex-rollout", "copilot-events", "traj", "atif", "agentv-transcript",
]  # fmt: skip
"""The files that they keep."""
TranscriptFormat = Literal[StreamFormat, StoredFormat]
STORED: tuple[StoredFormat, ...] = get_args(StoredFormat)
FORMATS: tuple[TranscriptFormat, ...] = (*get_args(StreamFormat), *STORED)

_Events = list[dict[str, Any]]


class _Format(NamedTuple):
    agent: str
    """Whose it is, for people."""
    read: Callable[[_Events, Transcript], End | None]
    """Collects texts and calls, and returns the end; None where there is none."""
    ends: tuple[str, ...] = ()
    """The types of the events after which nothing follows."""


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
    agent, read, _ = _FORMATS[format]
    events = list(_read_events(items, is_cut=stopped is not None))
    if not events and stopped is None:
        raise TargetError("the agent printed no JSON", kind="protocol")
    transcript = Transcript(exit_code)
    end = read(events, transcript)
    if stopped is not None:
        end = (end or End())._replace(finish=stopped)
    if end is None:
        why = f" (exit code {exit_code})" if exit_code else ": was it cut off?"
        what = f"the transcript of {agent} has no end{why}"
        raise TargetError(what, kind="protocol", details={"exit_code": exit_code})
    return replace(transcript.answer(end), session=_find_session(events))


_SESSION_NAMES = ("session_id", "sessionId", "sessionID", "thread_id")
_SESSION_HOLDERS = ("payload", "data", "source")
"""Parts of an event that may have the id in its place."""


def _find_session(events: _Events) -> str | None:
    """The id that the agent gave its session."""
    for event in events:
        for each in (event, *(object_of(event.get(name)) for name in _SESSION_HOLDERS)):
            found = next((each[name] for name in _SESSION_NAMES if name in each), None)
            if event.get("type") == "session_meta":  # of Codex
                found = each.get("id")
            if isinstance(found, str):
                return found
    return None


def is_end(line: bytes, format: str) -> bool:
    """Whether a line is the last event of an agent."""
    ends = _FORMATS[format].ends if format in _FORMATS else ()
    if not any(each.encode() in line for each in ends):
        return False
    event = (_parse(line.decode("utf-8", "replace")) or [{}])[0]
    return event.get("type") in ends and event.get("origin") in (None, "human")


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
            if found is None and item.startswith('{"') and not is_cut:
                raise unreadable(f"a line that is not JSON: {item:.80}")
            yield from found or ()
        elif is_dataclass(item) and not isinstance(item, type):
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


_SDK_TYPES = {
    "SystemMessage": "system", "AssistantMessage": "assistant", "UserMessage": "user",
    "ResultMessage": "result", "StreamEvent": "stream_event", "TextBlock": "text",
    "ThinkingBlock": "thinking", "ToolUseBlock": "tool_use", "ToolResultBlock": "tool_result",
    "ServerToolUseBlock": "server_tool_use", "ServerToolResultBlock": "server_tool_result",
}  # fmt: skip


def _event_of_sdk(item: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass of another package
    """A message of the Claude Agent SDK for Python, as the program prints it."""
    kind = _SDK_TYPES.get(type(item).__name__)
    value = {field.name: getattr(item, field.name) for field in fields(item)}
    if kind is None:
        return {"type": type(item).__name__, **value}
    content = value.get("content")
    if isinstance(content, list):
        value["content"] = [_event_of_sdk(each) for each in content if is_dataclass(each)]
    if kind in ("assistant", "user"):
        parent = value.pop("parent_tool_use_id", None)
        return {"type": kind, "parent_tool_use_id": parent, "message": {"role": kind, **value}}
    if kind == "system":
        return {"type": kind, **object_of(value.get("data"))}
    if kind == "result":
        value["modelUsage"] = value.pop("model_usage", None)
    return {"type": kind, **value}


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
            message = object_of(event.get("message"))
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
        transcript.mark_denied(
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
            is_error = str(object_of(output).get("type", "")).endswith("_error")
            is_error = is_error or bool(block.get("is_error"))
            transcript.result(block.get("tool_use_id"), text_of_parts(output), is_error=is_error)
        elif kind not in ("thinking", "redacted_thinking", "image", "document"):
            transcript.skip(block)


_CACHE_READ = "cache_read_input_tokens"
_GIVEN = ("input_tokens", _CACHE_READ, "cache_creation_input_tokens")
_SNAKE = {
    "inputTokens": "input_tokens", "outputTokens": "output_tokens",
    "cacheReadInputTokens": _CACHE_READ,
    "cacheCreationInputTokens": "cache_creation_input_tokens",
}  # fmt: skip
_CLAUDE_LIMITS = {"error_max_turns": "max_turns", "error_max_budget_usd": "max_cost"}


def _end_claude(end: Mapping[str, Any], model: object) -> End:
    subtype, reason = end.get("subtype"), end.get("stop_reason")
    limit = _CLAUDE_LIMITS.get(str(subtype))
    is_error = end.get("is_error") or subtype != "success"
    if limit is None and is_error and reason != "refusal":
        status = count_of(end.get("api_error_status"))
        raise failed(
            "Claude Code", end.get("result") or end.get("errors") or subtype,
            kind="http" if status is not None else "exception",
            details={"status": status, "subtype": subtype},
            may_succeed_later=status is None or status in OVERLOADED or status >= 500,
            overloaded=status in OVERLOADED,
        )  # fmt: skip
    # `usage` leaves out subagents, so `modelUsage` comes first.
    by_model = [object_of(each) for each in object_of(end.get("modelUsage")).values()]
    by_model = [{_SNAKE.get(key, key): each[key] for key in each} for each in by_model]
    rows, text = by_model or [object_of(end.get("usage"))], end.get("result")
    return End(
        text if isinstance(text, str) else None, limit or reason,
        count_tokens(rows, _GIVEN, ("output_tokens",), _CACHE_READ),
        money_of(end.get("total_cost_usd")), model,
    )  # fmt: skip


def _read_claude_session(events: _Events, transcript: Transcript) -> End | None:
    """`~/.claude/projects/…/ID.jsonl`, which has no event of its own for the end."""
    model: object = None
    finish: object = None
    used: dict[str, dict[str, Any]] = {}
    last: dict[str, Any] | None = None
    for line in events:
        event, parent = line, line.get("parentToolUseID")
        if line.get("type") == "progress" and parent is not None:  # what a subagent does
            event = {**object_of(object_of(line.get("data")).get("message")), "agentId": parent}
        message, kind = object_of(event.get("message")), event.get("type")
        if kind not in ("assistant", "user"):
            if kind not in ("system", "summary", "file-history-snapshot", "progress"):
                transcript.skip(event)
            continue
        subagent = event.get("agentId") or ("sidechain" if event.get("isSidechain") else None)
        _read_blocks(transcript, message, subagent)
        if kind == "assistant":
            used[str(message.get("id") or len(used))] = object_of(message.get("usage"))
            if subagent is None:
                last, model, finish = event, message.get("model"), message.get("stop_reason")
    if last is None:
        return None
    if last.get("isApiErrorMessage"):
        raise failed("Claude Code", text_of_parts(object_of(last.get("message")).get("content")))
    usage = count_tokens(used.values(), _GIVEN, ("output_tokens",), _CACHE_READ)
    return End(None, finish, usage, None, model)


# Codex: `codex exec --json`, and `~/.codex/sessions/…/rollout-*.jsonl`

_CODEX_USAGE = ("input_tokens",), ("output_tokens",), "cached_input_tokens"


def _read_codex(events: _Events, transcript: Transcript) -> End | None:
    end: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        if kind in ("item.started", "item.completed"):
            item, is_done = object_of(event.get("item")), kind == "item.completed"
            _read_codex_item(transcript, item, is_done=is_done)
        elif kind == "turn.started":
            end = None
        elif kind == "turn.completed":
            end = event  # its usage is the total of the thread
        elif kind == "turn.failed":
            raise failed("Codex", object_of(event.get("error")).get("message"))
        elif kind not in ("item.updated", "error"):
            transcript.skip(event)
    if end is None or transcript.exit_code:
        return None
    return End(usage=count_tokens([object_of(end.get("usage"))], *_CODEX_USAGE))


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
        output = item.get("error") or text_of_parts(object_of(item.get("result")).get("content"))
        is_error = is_error or item.get("error") is not None
    elif kind == "web_search":
        given = {"query": item.get("query")}
    elif kind == "collab_tool_call":
        given = {key: each for key, each in item.items() if key not in ("id", "type", "status")}
    else:
        if kind not in ("reasoning", "todo_list", "error"):
            transcript.skip(item)
        return
    transcript.call(id, tool, given, kind=of_kind)
    if is_done:
        transcript.result(id, output, is_error=is_error)


def _read_codex_rollout(events: _Events, transcript: Transcript) -> End | None:
    model: object = None
    total: dict[str, Any] = {}
    is_said = False
    for event in events:
        kind, item = event.get("type"), object_of(event.get("payload"))
        if kind == "response_item":
            _read_response_item(transcript, item)
            is_said = is_said or item.get("role") == "assistant"
        elif kind == "turn_context":
            model = item.get("model")
        elif kind == "event_msg":  # what the response items say, once more
            if item.get("type") in ("error", "turn_aborted"):
                raise failed("Codex", item.get("message") or item.get("reason"))
            total = object_of(object_of(item.get("info")).get("total_token_usage")) or total
        elif kind not in ("session_meta", "compacted"):
            transcript.skip(event)
    return End(usage=count_tokens([total], *_CODEX_USAGE), model=model) if is_said else None


def _read_response_item(transcript: Transcript, item: Mapping[str, Any]) -> None:
    kind, id = str(item.get("type")), item.get("call_id") or item.get("id")
    if kind == "message":
        if item.get("role") == "assistant":
            transcript.say(text_of_parts(item.get("content")))
    elif kind in ("function_call", "custom_tool_call"):
        given = parse_arguments(item.get("arguments", item.get("input")))
        transcript.call(id, item.get("name"), given)
    elif kind in ("local_shell_call", "web_search_call"):
        given = object_of(item.get("action"))
        transcript.call(id, kind.removesuffix("_call"), given)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = item.get("output")
        inner = object_of(parse_arguments(output) if isinstance(output, str) else output)
        code = object_of(inner.get("metadata")).get("exit_code")
        text = text_of_parts(inner.get("output", inner.get("content", output)))
        is_error = code not in (0, None) or inner.get("success") is False
        if isinstance(text, str) and text.startswith("Exit code: "):
            is_error = is_error or not text.startswith("Exit code: 0\n")
        transcript.result(id, text, is_error=is_error)
    elif kind != "reasoning":
        transcript.skip(item)


# Gemini CLI: `gemini -o stream-json`

_GEMINI_TURN_LIMIT = 53


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
            output = event.get("output") or object_of(event.get("error")).get("message")
            transcript.result(event.get("tool_id"), output, is_error=is_error)
        elif kind == "result":
            end = event
        else:
            transcript.skip(event)
    if end is None:
        return None
    error = object_of(end.get("error"))
    limited = (
        error.get("type") == "FatalTurnLimitedError" or transcript.exit_code == _GEMINI_TURN_LIMIT
    )
    if end.get("status") != "success" and not limited:
        raise failed("Gemini CLI", error.get("message"), may_succeed_later=False)
    stats = object_of(end.get("stats"))
    given, total = count_of(stats.get("input_tokens")), count_of(stats.get("total_tokens"))
    # `output_tokens` leaves out thoughts, which the total has.
    output = count_of(total - given) if total is not None and given is not None else None
    usage = Usage(given, output, count_of(stats.get("cached")))
    return End(text, "max_turns" if limited else "stop", usage, None, model)


# GitHub Copilot: `copilot -p … --output-format json`, in two dialects, and `events.jsonl`


def _read_copilot(events: _Events, transcript: Transcript) -> End | None:
    end: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        data = object_of(event.get("data")) or event
        id = data.get("toolCallId") or data.get("tool_call_id") or data.get("id")
        parent = data.get("parentToolCallId")
        if kind == "assistant.message":
            transcript.say(data.get("content"), parent)
            for call in calls_of(data.get("toolRequests")):
                given = call.get("arguments")
                transcript.call(call.get("toolCallId"), call.get("name"), given, parent)
        elif kind == "tool.execution_start":
            transcript.call(id, data.get("toolName"), data.get("arguments"), parent)
        elif kind == "tool.execution_complete":
            is_error = data.get("success") is False
            output = data.get("error") if is_error else object_of(data.get("result")).get("content")
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
            raise failed("Copilot", data.get("message"))
        else:
            transcript.skip(event)
    if end is None or end.get("exitCode", transcript.exit_code):
        return None
    models = object_of(end.get("modelMetrics"))
    used = [object_of(object_of(each).get("usage")) for each in models.values()]
    names = ("inputTokens",), ("outputTokens",), "cacheReadTokens"
    return End(finish="stop", usage=count_tokens(used, *names), model=next(iter(models), None))


# opencode: `opencode run --format json`


def _read_opencode(events: _Events, transcript: Transcript) -> End | None:
    steps: list[dict[str, Any]] = []
    for event in events:
        kind, part = event.get("type"), object_of(event.get("part"))
        if kind == "text":
            transcript.say(part.get("text"))
        elif kind == "tool_use":
            state = object_of(part.get("state"))
            transcript.call(part.get("callID"), part.get("tool"), state.get("input"))
            is_error = state.get("status") == "error"
            output = state.get("error") if is_error else state.get("output")
            transcript.result(part.get("callID"), output, is_error=is_error)
        elif kind == "step_finish":
            steps.append(part)
        elif kind == "error":
            data = object_of(object_of(event.get("error")).get("data"))
            raise failed("opencode", data.get("message"))
        elif kind not in ("step_start", "reasoning"):
            transcript.skip(event)
    if transcript.exit_code or not steps:
        return None
    costs = [money_of(step.get("cost")) for step in steps]
    cost = None if None in costs else sum(each for each in costs if each is not None)
    used = [object_of(step.get("tokens")) for step in steps]
    # Input leaves out what the cache read, and output leaves out reasoning.
    usage = count_tokens(
        ({**tokens, **object_of(tokens.get("cache"))} for tokens in used),
        ("input", "read", "write"), ("output", "reasoning"), "read",
    )  # fmt: skip
    return End(None, steps[-1].get("reason"), usage, cost)


# mini-swe-agent: the file that `mini -o FILE` writes

_MINI_LIMITS = {"LimitsExceeded": "max_turns", "TimeExceeded": "max_time"}


def _read_mini(events: _Events, transcript: Transcript) -> End | None:
    whole = events[-1] if events else {}
    info = object_of(whole.get("info"))
    status = info.get("exit_status")
    status = None if status is None else str(status)
    usages: list[dict[str, Any]] = []
    pending: list[str] = []
    for number, message in enumerate(calls_of(whole.get("messages"))):
        extra = object_of(message.get("extra"))
        if message.get("role") == "assistant":
            text = message.get("content")
            transcript.say(text if isinstance(text, str) else "")
            for index, action in enumerate(calls_of(extra.get("actions"))):
                id = str(action.get("tool_call_id") or f"{number}-{index}")
                transcript.call(id, "bash", {"command": action.get("command")})
                pending.append(id)
            usages.append(object_of(object_of(extra.get("response")).get("usage")))
        elif "raw_output" in extra and pending:
            id = str(message.get("tool_call_id") or pending[0])
            pending = [each for each in pending if each != id]
            is_error = extra.get("returncode") not in (0, None)
            transcript.result(id, extra.get("raw_output"), is_error=is_error)
    if "messages" not in whole or status is None:
        return None
    if status != "Submitted" and status not in _MINI_LIMITS:
        raise failed("mini-swe-agent", status)
    usage = count_tokens(usages, ("prompt_tokens",), ("completion_tokens",), "")
    return End(
        str(info.get("submission") or ""), _MINI_LIMITS.get(status, "stop"),
        usage if all("prompt_tokens" in each for each in usages) else None,
        money_of(object_of(info.get("model_stats")).get("instance_cost")),
    )  # fmt: skip


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
        for result in objects_of(object_of(step.get("observation")).get("results")):
            if result.get("source_call_id") is not None:
                output = text_of_parts(result.get("content"))
                transcript.result(result["source_call_id"], output, is_error=False)
    metrics = object_of(whole.get("final_metrics"))
    usage = count_tokens(
        [metrics], ("total_prompt_tokens",), ("total_completion_tokens",), "total_cached_tokens"
    )
    model = object_of(whole.get("agent")).get("model_name")
    return End(None, None, usage, money_of(metrics.get("total_cost_usd")), model)


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
    used = [object_of(row.get("transcript_token_usage"))]
    usage = count_tokens(used, ("input",), ("output",), "cached")
    return End(usage=usage, cost_usd=money_of(row.get("transcript_cost_usd")))


_FORMATS: dict[str, _Format] = {
    "claude-stream-json": _Format("Claude Code", _read_claude, ("result",)),
    "codex-json": _Format("Codex", _read_codex, ("turn.completed", "turn.failed")),
    "gemini-stream-json": _Format("Gemini CLI", _read_gemini, ("result",)),
    "copilot-jsonl": _Format("Copilot", _read_copilot, ("result",)),
    "opencode-json": _Format("opencode", _read_opencode),
    "claude-session": _Format("Claude Code", _read_claude_session),
    "codex-rollout": _Format("Codex", _read_codex_rollout),
    "copilot-events": _Format("Copilot", _read_copilot),
    "traj": _Format("mini-swe-agent", _read_mini),
    "atif": _Format("the agent", _read_atif),
    "agentv-transcript": _Format("the agent", _read_agentv),
}
