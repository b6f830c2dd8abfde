"""How many tools were called, which, how often the same, and whether they failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from evalcase.graders.compare.bounds import find_crossed
from evalcase.graders.compare.call_match import Call, read_calls
from evalcase.graders.compare.failed_calls import failed_calls
from evalcase.graders.compare.traced import calls_of_steps, steps_like, steps_option
from evalcase.model.answer import Answer
from evalcase.model.conflict import conflict
from evalcase.model.finding import KeyPath
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.json_value import JSON, write_alike
from evalcase.model.option import option
from evalcase.model.shape import Choice, ListOf, MapOf, Number, OptionFault, Text
from evalcase.text.calls import seen_calls
from evalcase.text.counted import list_some, write_count

_NAMED = 5


class _Minimums(MapOf, frozen=True):
    """A mapping of tools to numbers; whoever lists tools is told how it is written."""

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        tools = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
        for fault in MapOf.faults(self, value, path):
            yield fault._replace(hint=f"write `{{{tools[0]}: 1}}`") if tools else fault


@dataclass(frozen=True, slots=True)
class ToolCallsGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "tool_calls", "Limits which tools are called, and how often.",
        example="- tool_calls: {max: 5, needed: {search: 1}, forbidden: [delete], errors: forbid}",
        only_reads=True, light=True,
    )  # fmt: skip

    min: int | None = option(Number(0, whole=True), "The fewest calls.", default=None)
    max: int | None = option(
        Number(0, whole=True), "The most calls.", default=None, example=5,
        elsewhere=("budget", "max_calls"),
    )  # fmt: skip
    needed: dict[str, int] = option(
        _Minimums(Number(1, whole=True), "a mapping of tools to numbers"),
        "Tools that must be called, each with its minimum number of calls.", default={},
        example={"search": 1}, elsewhere=("minimums", "required_tools"),
    )  # fmt: skip
    forbidden: tuple[str, ...] = option(
        ListOf(Text("the name of a tool"), "a list of tools"), "Tools that must not be called.",
        default=(), example=["delete"], elsewhere=("denied", "deny"),
    )  # fmt: skip
    max_repeats: int | None = option(
        Number(1, whole=True), "How often the same call, with the same arguments, may be made.",
        default=None, example=2,
    )  # fmt: skip
    errors: str = option(Choice(("allow", "forbid")), "Whether calls may fail.", default="allow")
    steps: str | None = steps_option("Instead of the calls in the answer, use")

    @conflict
    def _limits_nothing(self) -> Iterator[OptionFault]:
        nothing: tuple[object, ...] = (None, {}, (), "allow")
        said = (self.min, self.max, self.needed, self.forbidden, self.max_repeats, self.errors)
        if all(each in nothing for each in said):
            needs = "the grader `tool_calls` needs an option, such as `max` or `needed`"
            yield OptionFault((), needs, code="missing-option")
        if self.min == 0 and all(each in nothing for each in said[1:]):
            yield OptionFault(("min",), "every answer has at least 0", "say at least 1, or a `max`")

    @conflict
    def _are_out_of_order(self) -> Iterator[OptionFault]:
        return find_crossed(self.min, self.max)

    @conflict
    def _needed_and_forbidden(self) -> Iterator[OptionFault]:
        for name in self.needed.keys() & set(self.forbidden):
            yield OptionFault(("forbidden",), f"`{name}` is needed, and can't be forbidden")

    def grade(self, context: Context) -> Score:
        calls, failures = self._read(context.answer)
        faults = [*self._wrong_counts(calls), *self._wrong_repeats(calls)]
        if self.errors == "forbid":
            failed = list(failures)
            faults += [f"{write_count(len(failed), 'call')} failed: {failed[0]}"] if failed else []
        if faults:
            return Score(0.0, "; ".join(faults))
        return Score(1.0, _describe_calls(calls))

    def _read(self, answer: Answer) -> tuple[Sequence[Call], Iterable[str]]:
        """The calls, and which of them failed."""
        if self.steps is None:
            return read_calls(seen_calls(answer)), failed_calls(answer)
        steps = steps_like(answer, self.steps)
        failed = [step.tool or step.name for step in steps if step.error is not None]
        return calls_of_steps(steps, whole=self.max_repeats is not None), failed

    def _wrong_counts(self, calls: Sequence[Call]) -> Iterator[str]:
        number, names = len(calls), Counter(call.name for call in calls)
        if self.min is not None and number < self.min:
            yield f"{_describe_calls(calls)}, but at least {self.min} are needed"
        if self.max is not None and number > self.max:
            yield f"{_describe_calls(calls)}, but at most {self.max} are allowed"
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
        shown = [(write_alike([call.name, call.given]), call) for call in calls]
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
