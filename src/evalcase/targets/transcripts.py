"""Reads what coding agents print: each transcript format becomes an answer with its tool calls.

Unknown events are skipped, because agents add new ones often. An unknown event that holds a tool
call is an error: a call that is not read would make `tool_calls: {forbidden: …}` pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args

from evalcase.errors import TargetError
from evalcase.types.answer import Answer, Usage
from evalcase.types.message import Message
from evalcase.types.value import JSON
from evalcase.util.calls import find_calls
from evalcase.util.json import BadJsonError, parse_json

TranscriptFormat = Literal[
    "claude-stream-json", "codex-json", "gemini-stream-json", "copilot-jsonl", "opencode-json",
    "traj", "atif",
]  # fmt: skip
FORMATS: tuple[TranscriptFormat, ...] = get_args(TranscriptFormat)
CallKind = Literal["shell", "read", "edit", "search", "web", "mcp", "skill", "agent"]

LONGEST_OUTPUT = 16 * 1024
"""How many characters of a tool's output are kept."""
_OVERLOADED = (429, 529)
_KINDS: dict[CallKind, tuple[str, ...]] = {
    "shell": ("Bash", "bash", "shell", "run_shell_command", "command_execution", "exec"),
    "read": ("Read", "read", "read_file", "read_many_files", "view"),
    "edit": (
        "Write", "Edit", "MultiEdit", "NotebookEdit", "write", "edit", "patch", "write_file",
        "replace", "create", "str_replace", "file_change", "apply_patch",
    ),
    "search": ("Grep", "Glob", "LS", "grep", "glob", "list", "search_file_content", "ls"),
    "web": ("WebFetch", "WebSearch", "webfetch", "web_fetch", "web_search", "google_web_search"),
    "skill": ("Skill", "skill", "activate_skill"),
    "agent": ("Task", "Agent", "task", "collab_tool_call"),
}  # fmt: skip
_KIND_OF_TOOL = {name: kind for kind, names in _KINDS.items() for name in names}


def read_transcript(
    items: str | bytes | Iterable[object], format: TranscriptFormat, *, exit_code: int = 0
) -> Answer:
    """The answer of a coding agent: its text, tool calls, tokens and cost.

    `items` is what the program printed, or the events as objects. Raise TargetError if the agent
    failed, if the transcript has no end, or if it holds tool calls in an unknown form. A limit of
    turns or cost that was reached is an answer, whose `finish_reason` says so.
    """
    if format not in _READERS:
        raise ValueError(f"`format` is one of {', '.join(FORMATS)}, not {format!r}")
    events = list(_read_events(items))
    if not events:
        raise TargetError("the agent printed no JSON", kind="protocol")
    return _READERS[format](events, exit_code)


def _read_events(items: str | bytes | Iterable[object]) -> Iterator[dict[str, Any]]:
    """The JSON objects of a transcript. Lines that are no JSON, such as warnings, are skipped."""
    if isinstance(items, bytes):
        items = items.decode("utf-8", "replace")
    if isinstance(items, str):
        whole = _parse(items)
        items = items.splitlines() if whole is None else whole
    for item in items:
        if isinstance(item, str):
            yield from _parse(item) or ()
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
    return [value] if isinstance(value, dict) else _objects(value)


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
        return {"type": kind, **_object(value.get("data"))}
    if kind == "result":
        value["modelUsage"] = value.pop("model_usage", None)
    return {"type": kind, **value}


class _Transcript:
    """Collects the texts and calls of one agent, in order."""

    def __init__(self) -> None:
        self._messages: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}

    def say(self, text: str) -> None:
        if text:
            self._messages.append({"role": "assistant", "content": text})

    def call(
        self, id: object, tool: object, input: JSON, parent: object = None,
        kind: CallKind | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(tool, str) or not tool:
            raise _unreadable(f"a tool call without a name: {json.dumps(input)[:200]}")
        if isinstance(id, str) and id in self._calls:
            self._calls[id]["input"] = input  # a later event of the same call knows more
            return
        call: dict[str, Any] = {"tool": tool, "input": input}
        if isinstance(id, str):
            call["id"] = id
            self._calls[id] = call
        if parent is not None:
            call["parent"] = parent
        found = kind or _kind_of(tool)
        if found is not None:
            call["kind"] = found
        self._messages.append({"role": "assistant", "tool_calls": [call]})

    def result(self, id: object, output: JSON, *, is_error: bool) -> None:
        call = self._calls.get(id) if isinstance(id, str) else None
        if call is None:
            raise _unreadable(f"a result of no call: {id!r:.80}")
        text = output if isinstance(output, str) else None
        if text is not None and len(text) > LONGEST_OUTPUT:
            call["output_cut"] = len(text) - LONGEST_OUTPUT
            output = text[:LONGEST_OUTPUT]
        call["output"] = output
        if is_error:
            call["is_error"] = True

    def mark_denied(self, id: object, tool: object, input: JSON) -> None:
        """A call that the agent's permissions refused."""
        self.call(id, tool, input)
        self.result(id, self._calls[str(id)].get("output", "denied"), is_error=True)

    def skip(self, event: Mapping[str, Any]) -> None:
        """An event of an unknown type. It must not hold a call."""
        call: object = next(find_calls(dict(event)), None)
        if call is None and isinstance(event.get("name"), str) and "input" in event:
            call = f"`{event['name']:.80}`"
        if call is not None:
            raise _unreadable(f"a tool call in an unknown form: {call}")

    def answer(
        self, text: str | None = None, *, finish: str | None = None, usage: Usage | None = None,
        cost_usd: float | None = None, model: object = None,
    ) -> Answer:  # fmt: skip
        """The answer, which ends with `text`, by default with the last text that was said."""
        messages = self._messages
        last = messages[-1] if messages else None
        if text is None:
            text = str(last["content"]) if last is not None and "content" in last else ""
        if last is not None and last.get("content") == text:
            messages.pop()
        # An empty text, not null: an earlier text is not the answer.
        final: dict[str, Any] = {"role": "assistant", "content": text}
        if finish is not None:
            final["finish_reason"] = finish
        said = tuple(Message(each) for each in (*messages, final))
        name = model if isinstance(model, str) else None
        return Answer(said, usage, cost_usd, model=name)


def _kind_of(tool: str) -> CallKind | None:
    return "mcp" if tool.startswith(("mcp__", "mcp_")) else _KIND_OF_TOOL.get(tool)


def _unreadable(what: str) -> TargetError:
    return TargetError(f"the transcript has {what}", kind="protocol")


def _no_end(agent: str, exit_code: int) -> TargetError:
    what = f"the transcript of {agent} has no end (exit code {exit_code})"
    return TargetError(what, kind="protocol", details={"exit_code": exit_code})


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _count_tokens(
    rows: Iterable[Mapping[str, Any]], given: Collection[str], made: Collection[str], cached: str
) -> Usage | None:
    """The sums of tokens, by the names that an agent has for them; None if none is known."""
    known = [{key: count for key, each in row.items() if (count := _count(each)) is not None}
             for row in rows]  # fmt: skip

    def total(names: Collection[str]) -> int | None:
        counts = [row[name] for row in known for name in names if name in row]
        return sum(counts) if counts else None

    usage = Usage(total(given), total(made), total((cached,)))
    return None if usage == Usage() else usage


def _money(value: object) -> float | None:
    return float(value) if type(value) in (int, float) and value >= 0 else None  # type: ignore[operator, arg-type]


def _text_of_content(content: object) -> JSON:
    """The output of a tool: text, or the joined text of content parts."""
    texts = [each.get("text") for each in _objects(content)]
    if texts and all(isinstance(text, str) for text in texts):
        return "".join(map(str, texts))
    return content  # type: ignore[return-value]


# Claude Code: `claude -p --output-format stream-json --verbose`


def _read_claude(events: list[dict[str, Any]], exit_code: int) -> Answer:
    transcript = _Transcript()
    model: object = None
    stopped: object = None
    end: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        if kind == "system":
            model = model or event.get("model")
        elif kind in ("assistant", "user"):
            message = _object(event.get("message"))
            stopped = message.get("stop_reason") or stopped
            _read_claude_blocks(transcript, message, event.get("parent_tool_use_id"))
        elif kind == "result":
            if event.get("origin") in (None, "human"):
                end = event
        elif kind != "stream_event":  # its blocks come again as a whole
            transcript.skip(event)
    if end is None:
        raise _no_end("Claude Code", exit_code)
    if not any(event.get("type") == "assistant" for event in events) and not end.get("is_error"):
        hint = "run Claude Code with --output-format stream-json --verbose"
        raise _unreadable(f"no messages, so its tool calls are unknown: {hint}")
    for denied in _objects(end.get("permission_denials")):
        transcript.mark_denied(
            denied.get("tool_use_id"), denied.get("tool_name"), denied.get("tool_input")
        )
    return _end_claude(transcript, {"stop_reason": stopped, **end}, model)


def _read_claude_blocks(
    transcript: _Transcript, message: Mapping[str, Any], parent: object
) -> None:
    content = message.get("content")
    blocks = [content] if isinstance(content, dict) else _objects(content)
    if isinstance(content, str) and message.get("role") == "assistant" and parent is None:
        transcript.say(content)
    for block in blocks:
        kind = str(block.get("type"))
        if kind == "text":
            if message.get("role") == "assistant" and parent is None:
                transcript.say(str(block.get("text", "")))
        elif kind.endswith("tool_use"):
            transcript.call(block.get("id"), block.get("name"), block.get("input"), parent)
        elif kind.endswith("tool_result"):
            output = _text_of_content(block.get("content"))
            transcript.result(block.get("tool_use_id"), output, is_error=_is_failed(block))
        elif kind not in ("thinking", "redacted_thinking", "image", "document"):
            transcript.skip(block)


def _is_failed(block: Mapping[str, Any]) -> bool:
    content = _object(block.get("content"))
    return bool(block.get("is_error")) or str(content.get("type", "")).endswith("_error")


_CACHE_READ = "cache_read_input_tokens"
_SNAKE = {
    "inputTokens": "input_tokens", "outputTokens": "output_tokens",
    "cacheReadInputTokens": _CACHE_READ,
    "cacheCreationInputTokens": "cache_creation_input_tokens",
}  # fmt: skip
_CLAUDE_LIMITS = {"error_max_turns": "max_turns", "error_max_budget_usd": "max_cost"}


def _end_claude(transcript: _Transcript, end: Mapping[str, Any], model: object) -> Answer:
    subtype = end.get("subtype")
    limit = _CLAUDE_LIMITS.get(str(subtype))
    reason = end.get("stop_reason")
    failed = end.get("is_error") or subtype != "success"
    if limit is None and failed and reason != "refusal":
        status = end.get("api_error_status")
        said = end.get("result") or end.get("errors") or subtype
        raise TargetError(
            f"Claude Code failed: {said}"[:500],
            kind="http" if status is not None else "exception",
            details={"status": status, "subtype": subtype},
            may_succeed_later=status is None or status in _OVERLOADED or status >= 500,
            overloaded=status in _OVERLOADED,
        )
    # `usage` leaves out subagents, so `modelUsage` comes first.
    by_model = [_object(each) for each in _object(end.get("modelUsage")).values()]
    by_model = [{_SNAKE.get(key, key): each[key] for key in each} for each in by_model]
    text = end.get("result")
    return transcript.answer(
        text if isinstance(text, str) else None,
        finish=limit or (reason if isinstance(reason, str) else None),
        usage=_count_tokens(
            by_model or [_object(end.get("usage"))],
            ("input_tokens", _CACHE_READ, "cache_creation_input_tokens"),
            ("output_tokens",),
            _CACHE_READ,
        ),
        cost_usd=_money(end.get("total_cost_usd")),
        model=model,
    )


# Codex: `codex exec --json`


def _read_codex(events: list[dict[str, Any]], exit_code: int) -> Answer:
    transcript = _Transcript()
    end: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        if kind in ("item.started", "item.completed"):
            _read_codex_item(transcript, _object(event.get("item")))
        elif kind == "turn.started":
            end = None
        elif kind == "turn.completed":
            end = event  # its usage is the total of the thread
        elif kind == "turn.failed":
            said = _object(event.get("error")).get("message")
            raise TargetError(f"Codex failed: {said}"[:500], may_succeed_later=True)
        elif kind not in ("item.updated", "error"):
            transcript.skip(event)
    if end is None or exit_code:
        raise _no_end("Codex", exit_code)
    usage = _count_tokens(
        [_object(end.get("usage"))], ("input_tokens",), ("output_tokens",), "cached_input_tokens"
    )
    return transcript.answer(usage=usage)


def _read_codex_item(transcript: _Transcript, item: Mapping[str, Any]) -> None:
    kind, id = item.get("type"), item.get("id")
    failed = item.get("status") in ("failed", "declined")
    if kind == "agent_message":
        transcript.say(str(item.get("text", "")))
    elif kind == "command_execution":
        transcript.call(id, kind, {"command": item.get("command")})
        failed = failed or item.get("exit_code") not in (0, None)
        transcript.result(id, item.get("aggregated_output"), is_error=failed)
    elif kind == "file_change":
        transcript.call(id, kind, {"changes": item.get("changes")})
        transcript.result(id, item.get("status"), is_error=failed)
    elif kind == "mcp_tool_call":
        transcript.call(id, item.get("tool"), item.get("arguments"), kind="mcp")
        output = item.get("error") or _text_of_content(_object(item.get("result")).get("content"))
        transcript.result(id, output, is_error=failed or item.get("error") is not None)
    elif kind == "web_search":
        transcript.call(id, kind, {"query": item.get("query")})
    elif kind == "collab_tool_call":
        rest = {key: each for key, each in item.items() if key not in ("id", "type", "status")}
        transcript.call(id, kind, rest)
        transcript.result(id, item.get("status"), is_error=failed)
    elif kind not in ("reasoning", "todo_list", "error"):
        transcript.skip(item)


# Gemini CLI: `gemini -o stream-json`

_GEMINI_TURN_LIMIT = 53


def _read_gemini(events: list[dict[str, Any]], exit_code: int) -> Answer:
    transcript = _Transcript()
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
            failed = event.get("status") == "error" or event.get("error") is not None
            output = event.get("output") or _object(event.get("error")).get("message")
            transcript.result(event.get("tool_id"), output, is_error=failed)
        elif kind == "result":
            end = event
        else:
            transcript.skip(event)
    if end is None:
        raise _no_end("Gemini CLI", exit_code)
    error = _object(end.get("error"))
    limited = error.get("type") == "FatalTurnLimitedError" or exit_code == _GEMINI_TURN_LIMIT
    if end.get("status") != "success" and not limited:
        raise TargetError(f"Gemini CLI failed: {error.get('message')}"[:500], kind="exception")
    finish = "max_turns" if limited else "stop"
    stats = _object(end.get("stats"))
    given, total = _count(stats.get("input_tokens")), _count(stats.get("total_tokens"))
    # `output_tokens` leaves out thoughts, which the total has.
    output = total - given if total is not None and given is not None else None
    usage = Usage(given, output, _count(stats.get("cached")))
    return transcript.answer(text, finish=finish, usage=usage, model=model)


# GitHub Copilot: `copilot -p … --output-format json`, in two dialects


def _read_copilot(events: list[dict[str, Any]], exit_code: int) -> Answer:
    transcript = _Transcript()
    end: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        data = _object(event.get("data")) or event
        id = data.get("toolCallId") or data.get("tool_call_id") or data.get("id")
        if kind == "assistant.message":
            transcript.say(str(data.get("content") or ""))
            for call in _objects(data.get("toolRequests")):
                transcript.call(call.get("toolCallId"), call.get("name"), call.get("arguments"))
        elif kind == "tool.execution_start":
            transcript.call(id, data.get("toolName"), data.get("arguments"))
        elif kind == "tool.execution_complete":
            failed = data.get("success") is False
            output = data.get("error") if failed else _object(data.get("result")).get("content")
            transcript.result(id, output, is_error=failed)
        elif kind == "skill.invoked":
            transcript.call(event.get("id"), "skill", {"skill": data.get("name")})
        elif kind == "message":
            if data.get("role") == "assistant":
                transcript.say(str(_text_of_content(data.get("content")) or ""))
        elif kind == "tool_use":
            transcript.call(id, data.get("name"), data.get("input"))
        elif kind == "tool_result":
            output = _text_of_content(data.get("content"))
            failed = bool(data.get("is_error"))
            transcript.result(data.get("tool_use_id") or id, output, is_error=failed)
        elif kind == "result":
            end = event
        else:
            transcript.skip(event)
    code = end.get("exitCode") if end is not None else exit_code
    if end is None or code:
        raise _no_end("Copilot", exit_code)
    return transcript.answer(finish="stop")


# opencode: `opencode run --format json`


def _read_opencode(events: list[dict[str, Any]], exit_code: int) -> Answer:
    transcript = _Transcript()
    steps: list[dict[str, Any]] = []
    for event in events:
        kind, part = event.get("type"), _object(event.get("part"))
        if kind == "text":
            transcript.say(str(part.get("text", "")))
        elif kind == "tool_use":
            state = _object(part.get("state"))
            transcript.call(part.get("callID"), part.get("tool"), state.get("input"))
            failed = state.get("status") == "error"
            output = state.get("error") if failed else state.get("output")
            transcript.result(part.get("callID"), output, is_error=failed)
        elif kind == "step_finish":
            steps.append(part)
        elif kind == "error":
            said = _object(_object(event.get("error")).get("data")).get("message")
            raise TargetError(f"opencode failed: {said}"[:500], may_succeed_later=True)
        elif kind not in ("step_start", "reasoning"):
            transcript.skip(event)
    if exit_code or not steps:
        raise _no_end("opencode", exit_code)
    costs = [_money(step.get("cost")) for step in steps]
    cost = None if None in costs else sum(each for each in costs if each is not None)
    reason, used = steps[-1].get("reason"), [_object(step.get("tokens")) for step in steps]
    return transcript.answer(
        finish=reason if isinstance(reason, str) else None,
        # Input leaves out what the cache read, and output leaves out reasoning.
        usage=_count_tokens(
            ({**tokens, **_object(tokens.get("cache"))} for tokens in used),
            ("input", "read", "write"), ("output", "reasoning"), "read",
        ), cost_usd=cost,
    )  # fmt: skip


# mini-swe-agent: the file that `mini -o FILE` writes

_MINI_LIMITS = {"LimitsExceeded": "max_turns", "TimeExceeded": "max_time"}


def _read_mini(events: list[dict[str, Any]], exit_code: int) -> Answer:
    transcript = _Transcript()
    whole = events[-1]
    info = _object(whole.get("info"))
    status = info.get("exit_status")
    if "messages" not in whole or status is None:
        raise _no_end("mini-swe-agent", exit_code)
    if status != "Submitted" and status not in _MINI_LIMITS:
        raise TargetError(f"mini-swe-agent failed: {status}", may_succeed_later=True)
    usages: list[dict[str, Any]] = []
    pending: list[str] = []
    for number, message in enumerate(_objects(whole.get("messages"))):
        extra = _object(message.get("extra"))
        if message.get("role") == "assistant":
            text = message.get("content")
            transcript.say(text if isinstance(text, str) else "")
            for index, action in enumerate(_objects(extra.get("actions"))):
                id = str(action.get("tool_call_id") or f"{number}-{index}")
                transcript.call(id, "bash", {"command": action.get("command")})
                pending.append(id)
            usages.append(_object(_object(extra.get("response")).get("usage")))
        elif "raw_output" in extra and pending:
            id = str(message.get("tool_call_id") or pending[0])
            pending.remove(id)
            failed = extra.get("returncode") not in (0, None)
            transcript.result(id, extra.get("raw_output"), is_error=failed)
    usage = _count_tokens(usages, ("prompt_tokens",), ("completion_tokens",), "")
    return transcript.answer(
        str(info.get("submission") or ""),
        finish=_MINI_LIMITS.get(str(status), "stop"),
        usage=usage if all("prompt_tokens" in each for each in usages) else None,
        cost_usd=_money(_object(info.get("model_stats")).get("instance_cost")),
    )


# ATIF, the trajectory format of Harbor


def _read_atif(events: list[dict[str, Any]], exit_code: int) -> Answer:
    transcript = _Transcript()
    whole = events[-1]
    if "steps" not in whole:
        raise _no_end("the agent", exit_code)
    for step in _objects(whole.get("steps")):
        if step.get("source") != "agent" or step.get("is_copied_context"):
            continue
        transcript.say(str(_text_of_content(step.get("message")) or ""))
        if isinstance(step.get("tool_calls"), dict):
            transcript.skip(step)
        for call in _objects(step.get("tool_calls")):
            id = call.get("tool_call_id")
            transcript.call(id, call.get("function_name"), call.get("arguments"))
        for result in _objects(_object(step.get("observation")).get("results")):
            if result.get("source_call_id") is not None:
                output = _text_of_content(result.get("content"))
                transcript.result(result["source_call_id"], output, is_error=False)
    metrics = _object(whole.get("final_metrics"))
    usage = _count_tokens(
        [metrics], ("total_prompt_tokens",), ("total_completion_tokens",), "total_cached_tokens"
    )
    return transcript.answer(
        usage=usage,
        cost_usd=_money(metrics.get("total_cost_usd")),
        model=_object(whole.get("agent")).get("model_name"),
    )


_READERS: dict[str, Callable[[list[dict[str, Any]], int], Answer]] = {
    "claude-stream-json": _read_claude,
    "codex-json": _read_codex,
    "gemini-stream-json": _read_gemini,
    "copilot-jsonl": _read_copilot,
    "opencode-json": _read_opencode,
    "traj": _read_mini,
    "atif": _read_atif,
}
