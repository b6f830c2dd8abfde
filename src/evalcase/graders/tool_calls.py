"""Graders of which calls were made: `tool_calls` limits them, `skill_used` looks for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from evalcase.graders.base import Context, Grader, object_to_count
from evalcase.graders.calls import (
    Agents,
    Call,
    about_steps,
    calls_by,
    calls_of,
    check_kinds,
    steps_like,
)
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.message import Message, ToolCall, parts_of
from evalcase.types.options import Count, Text, Texts, Whole, about
from evalcase.types.problem import Finding
from evalcase.types.value import JSON, canonical_text
from evalcase.util.answers import text_of_content
from evalcase.util.calls import kind_of_tool, seen_calls, traced_calls
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.text import as_json, list_some, write_count

_NAMED = 5


class ToolCallsGrader(Grader):
    name = "tool_calls"
    description = "Limits which tools are called, and how often."
    needs = ("min", "max", "needed", "forbidden", "max_repeats", "errors")
    example = "- tool_calls: {max: 5, needed: {search: 1}, forbidden: [delete], errors: forbid}"

    min: Annotated[Whole | None, about("The fewest calls.")] = None
    max: Annotated[Whole | None, about("The most calls.", elsewhere=("budget",))] = None
    needed: Annotated[
        dict[str, Count], about("Tools, or kinds such as `@shell`, and how often at least.")
    ] = {}
    forbidden: Annotated[Texts, about("Tools, or kinds, that must not be called.")] = ()
    max_repeats: Annotated[Count | None, about("How often the same call may be made.")] = None
    errors: Annotated[Literal["allow", "forbid"], about("Whether calls may fail.")] = "allow"
    agent: Agents = "all"
    steps: Annotated[Text | None, about_steps("Instead of the calls in the answer, use")] = None

    def conflicts(self) -> Iterator[Finding]:
        yield from check_kinds(self.needed, "needed")
        yield from check_kinds(self.forbidden, "forbidden")
        yield from super().conflicts()
        for name in self.needed.keys() & set(self.forbidden):
            yield Finding(("forbidden",), f"`{name}` is needed, and can't be forbidden")

    def grade(self, context: Context) -> Score:
        answer, whole = context.answer, self.max_repeats is not None
        calls, unmatched = calls_of(answer, self.agent, self.steps, whole=whole)
        if self.steps is None:
            failed = failed_calls(calls_by(answer, self.agent))
        else:
            steps = steps_like(answer, self.steps)
            failed = [step.tool or step.name for step in steps if step.error is not None]
        faults = [*self._wrong_counts(calls), *self._wrong_repeats(calls)]
        if self.errors == "forbid" and failed:
            faults.append(f"{write_count(len(failed), 'call')} failed: {failed[0]}")
        if unmatched:
            faults = [f"{each} ({unmatched})" for each in faults]
        return Score(float(not faults), "; ".join(faults) or _describe_calls(calls))

    def _wrong_counts(self, calls: Sequence[Call]) -> Iterator[str]:
        number, names = len(calls), Counter(call.name for call in calls)
        names.update(call.kind for call in calls if call.kind)
        fault = object_to_count(number, _describe_calls(calls), self.min, self.max)
        if fault is not None:
            yield fault
        for name, times in self.needed.items():
            if names[name] < times:
                called = f"called {_write_times(names[name])}" if names[name] else "not called"
                yield f"`{name}` was {called}, and {_write_times(times)} is needed"
        for name in self.forbidden:
            if names[name]:
                yield f"`{name}` was called, which is forbidden"

    def _wrong_repeats(self, calls: Sequence[Call]) -> Iterator[str]:
        if self.max_repeats is None:
            return
        shown = [(canonical_text([call.name, call.given]), call) for call in calls]
        same, named = Counter(key for key, _ in shown), dict(shown)
        for key, times in same.most_common(_NAMED):
            if times > self.max_repeats:
                allowed = f"{_write_times(self.max_repeats)} is allowed"
                yield f"{named[key]} was called {_write_times(times)}, and {allowed}"


def _write_times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _describe_calls(calls: Sequence[Call]) -> str:
    if not calls:
        return "no tool calls"
    names = Counter(call.name for call in calls)
    listed = [f"{name} × {times}" if times > 1 else name for name, times in names.items()]
    some = list_some(listed[:_NAMED], len(listed))
    return f"{write_count(len(calls), 'tool call')} ({some})"


# Calls that failed

_MARKS = ("error", "is_error", "isError")
_FAILED = frozenset({
    "error", "failed", "failure", "declined", "denied", "rejected", "timed_out", "timeout",
    "outcome_failed", "outcome_deadline_exceeded",
})  # fmt: skip
_NOTHING = frozenset({"", "0", "none", "null", "false"})
_RESULTS = ("functionResponse", "function_response", "toolResult", "codeExecutionResult")
"""Keys of parts that are results, in Gemini's and Bedrock's forms."""
_OF_CALL = ("tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "id")


def failed_calls(answer: Answer) -> list[str]:
    """The names of the calls that failed: by themselves, or by a tool message or a content part
    that is their result."""
    traced = traced_calls(answer, whole=False) if answer.steps else []
    return [*_find_failed(answer), *(call.name for call in traced if call.get("is_error"))]


def _find_failed(answer: Answer) -> Iterator[str]:
    names: dict[str, str] = {}
    told: set[str] = set()
    for message in answer.messages:
        for call in message.tool_calls:
            ids = [as_json(call[key]) for key in _OF_CALL if key in call]
            names |= dict.fromkeys(ids, call.name)
            if _is_failure(call) or _says_failure(call.output) or _says_failure(call.get("result")):
                told.update(ids)
                yield call.name
        for result in _list_results(message):
            said = result.get("content", result.get("response", result.get("output")))
            ids = [as_json(result[key]) for key in _OF_CALL if key in result]
            if not told.isdisjoint(ids):
                continue
            if _is_failure(result) or _says_failure(said) or result.get("type") == "tool-error":
                known = (names[each] for each in ids if each in names)
                yield str(next(known, None) or result.get("name") or "a tool")


def _list_results(message: Message) -> Iterator[Mapping[str, Any]]:
    if message.role == "tool":
        yield message
    blocks = message.get("blocks")
    for part in [*parts_of(message.content), *(blocks if isinstance(blocks, list) else ())]:
        if not isinstance(part, dict):
            continue
        inner = next((part[key] for key in _RESULTS if isinstance(part.get(key), dict)), None)
        if isinstance(inner, dict):
            yield inner
        elif str(part.get("type")).endswith(("tool_result", "tool-result", "tool-error")):
            yield part


def _is_failure(value: Mapping[str, Any]) -> bool:
    """Whether a call or a result says of itself that it failed."""
    outcome = value.get("outcome")
    inner = outcome if isinstance(outcome, dict) else {"type": outcome}
    said = (value.get("status"), inner.get("type"))
    if any(isinstance(each, str) and each.lower() in _FAILED for each in said):
        return True
    return _is_marked(value) or _is_code(inner.get("exit_code"))


def _says_failure(value: JSON) -> bool:
    """Whether what a tool put out says so, or an item of a list does. Most tools put out text:
    where that is JSON, what it says counts."""
    text = text_of_content(value)
    if text is not None:
        try:
            value = parse_json(text)
        except BadJsonError:
            return False
    several = value if isinstance(value, list) else [value]
    return any(isinstance(each, dict) and _is_marked(each) for each in several)


def _is_marked(value: Mapping[str, Any]) -> bool:
    kind = str(value.get("type"))
    if kind in ("error-text", "error-json"):  # as the AI SDK has it
        return True
    if kind.endswith("_result_error") or any(_is_error(value.get(mark)) for mark in _MARKS):
        return True
    # Anthropic's own tools return what a program returned.
    return kind.endswith("_result") and _is_code(value.get("return_code"))


def _is_code(value: JSON) -> bool:
    return value is not None and str(value).lower() not in _NOTHING


def _is_error(value: JSON) -> bool:
    """A number is a measure of something, and no error."""
    if isinstance(value, str):
        return value.strip().lower() not in _NOTHING
    return value is True or (isinstance(value, dict | list) and bool(value))


# skill_used


class SkillUsedGrader(Grader):
    name = "skill_used"
    description = "The agent used a skill."
    argument = "value"
    example = "- skill_used: csv"

    value: Annotated[Text, about("The name of the skill.", example="csv", elsewhere=("skill",))]
    evidence: Annotated[
        Literal["tool", "any"], about("A call of a `tool` for skills, or `any` sign.")
    ] = "tool"

    def grade(self, context: Context) -> Score:
        calls = seen_calls(context.answer)
        worked = [each for each in calls if not each.get("is_error")]
        used = {_skill_of(each) for each in worked}
        # A skill of a plug-in may be named with it: `plugin:skill`.
        if any(each and f":{each}".endswith(f":{self.value}") for each in used):
            return Score(1.0, f"the agent used the skill `{self.value}`")
        if self.evidence == "any":
            read = f"skills/{self.value}/SKILL.md"
            if any(read in str(each.arguments) for each in worked):
                told = f"the agent read {read}, which is a sign that it used the skill"
                return Score(1.0, told, {"heuristic": True})
        others = sorted(filter(None, used))
        listed = f", but {list_some(others, len(others))}" if others else ""
        return Score(0.0, f"the agent did not use the skill `{self.value}`{listed}")


def _skill_of(call: ToolCall) -> str | None:
    """The skill that a call uses; None if it uses none."""
    given = call.arguments
    if kind_of_tool(call.name) != "skill" or not isinstance(given, Mapping):
        return None
    named = (given.get(name) for name in ("skill", "name", "skill_name", "command"))
    return next((each for each in named if isinstance(each, str)), None)
