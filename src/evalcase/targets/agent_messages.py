"""What readers of transcripts share: the texts and calls of one agent, and numbers as agents write
them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from evalcase.errors import TargetError
from evalcase.types.answer import Answer, Usage
from evalcase.types.message import Message
from evalcase.types.value import JSON
from evalcase.util.calls import CallKind, find_calls, kind_of_tool

LONGEST_OUTPUT = 16 * 1024
"""How many characters of a tool's output are kept."""
OVERLOADED = (429, 529)
"""Statuses of a service that has too much to do."""


class End(NamedTuple):
    """How an agent ended."""

    text: str | None = None
    """The answer; by default, the last text that was said."""
    finish: object = None
    usage: Usage | None = None
    cost_usd: float | None = None
    model: object = None


class Transcript:
    """Collects the texts and calls of one agent, in order."""

    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code
        self._messages: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}

    def say(self, text: object, parent: object = None) -> None:
        """A text of the agent. What a subagent says is no part of the answer."""
        if text and parent is None:
            self._messages.append({"role": "assistant", "content": str(text)})

    def call(
        self, id: object, tool: object, input: JSON, parent: object = None,
        kind: CallKind | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """A call of a tool; `parent` is the call of the subagent that made it."""
        if not isinstance(tool, str) or not tool:
            raise unreadable(f"a tool call without a name: {json.dumps(input)[:200]}")
        known = self._calls.get(id) if isinstance(id, str) else None
        if known is not None:  # a later event of the same call knows more
            if known["tool"] != tool or ("output" in known and known["input"] != input):
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

    def mark_denied(self, id: object, tool: object, input: JSON) -> None:
        """A call that the agent's permissions refused."""
        known = self._calls.get(id) if isinstance(id, str) else None
        call = self.call(id, tool, input) if known is None else known
        call |= {"output": call.get("output", "denied"), "is_error": True, "denied": True}

    def skip(self, event: Mapping[str, Any]) -> None:
        """An event of an unknown type. It must not hold a call."""
        call: object = next(find_calls(dict(event)), None)
        if call is None and isinstance(event.get("name"), str) and "input" in event:
            call = f"`{event['name']:.80}`"
        if call is not None:
            raise unreadable(f"a tool call in an unknown form: {call}")

    def answer(self, end: End) -> Answer:
        messages = self._messages
        last = messages[-1] if messages else None
        text = end.text
        if text is None:
            text = str(last["content"]) if last is not None and "content" in last else ""
        if last is not None and last.get("content") == text:
            messages.pop()
        # An empty text, not null: an earlier text is not the answer.
        final: dict[str, Any] = {"role": "assistant", "content": text}
        if isinstance(end.finish, str):
            final["finish_reason"] = end.finish
        said = tuple(Message(each) for each in (*messages, final))
        name = end.model if isinstance(end.model, str) else None
        return Answer(said, end.usage, end.cost_usd, model=name)


def unreadable(what: str) -> TargetError:
    return TargetError(f"the transcript has {what}", kind="protocol")


def failed(agent: str, said: object, **more: Any) -> TargetError:  # noqa: ANN401 - as of TargetError
    """The error of an agent that says itself that it failed."""
    return TargetError(f"{agent} failed: {said}"[:500], **{"may_succeed_later": True, **more})


def object_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def calls_of(value: object) -> list[dict[str, Any]]:
    """Objects that are tool calls, or hold them. Raise TargetError for another shape."""
    found = objects_of(value)
    if value is not None and found != value:
        raise unreadable(f"tool calls in an unknown form: {value!r:.200}")
    return found


def count_of(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def count_tokens(
    rows: Iterable[Mapping[str, Any]], given: Collection[str], made: Collection[str], cached: str
) -> Usage | None:
    """The sums of tokens, by the names that an agent has for them; None if none is known."""
    known = [{key: count for key, each in row.items() if (count := count_of(each)) is not None}
             for row in rows]  # fmt: skip

    def total(names: Collection[str]) -> int | None:
        counts = [row[name] for row in known for name in names if name in row]
        return sum(counts) if counts else None

    usage = Usage(total(given), total(made), total((cached,)))
    return None if usage == Usage() else usage


def money_of(value: object) -> float | None:
    return float(value) if type(value) in (int, float) and value >= 0 else None  # type: ignore[operator, arg-type]


def text_of_parts(content: object) -> JSON:
    """The output of a tool: text, or the joined text of content parts."""
    texts = [each.get("text") for each in objects_of(content)]
    if texts and all(isinstance(text, str) for text in texts):
        return "".join(map(str, texts))
    return content  # type: ignore[return-value]
