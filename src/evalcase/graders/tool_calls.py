"""How many tools were called, which, how often the same, and whether they failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from evalcase.graders.compare.bounds import find_crossed
from evalcase.graders.compare.call_match import Call, read_calls
from evalcase.graders.compare.failed_calls import failed_calls
from evalcase.graders.compare.traced import about_steps, calls_of_steps, steps_like
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import Count, OptionFault, Text, Texts, Whole, about, of_kind
from evalcase.types.value import JSON, write_alike
from evalcase.util.calls import seen_calls
from evalcase.util.text import list_some, write_count

_NAMED = 5


def _hint_at_minimums(value: JSON) -> str | None:
    """How to write tools that stand in a list."""
    tools = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    return f"write `{{{tools[0]}: 1}}`" if tools else None


Minimums = Annotated[
    dict[str, Count], of_kind("a mapping of tools to numbers", hint=_hint_at_minimums)
]


class ToolCallsGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "tool_calls", "Limits which tools are called, and how often.",
        example="- tool_calls: {max: 5, needed: {search: 1}, forbidden: [delete], errors: forbid}",
        only_reads=True, light=True,
    )  # fmt: skip

    min: Annotated[Whole | None, about("The fewest calls.")] = None
    max: Annotated[
        Whole | None, about("The most calls.", example=5, elsewhere=("budget", "max_calls"))
    ] = None
    needed: Annotated[
        Minimums,
        about(
            "Tools that must be called, each with its minimum number of calls.",
            example={"search": 1},
            elsewhere=("minimums", "required_tools"),
        ),
    ] = {}
    forbidden: Annotated[
        Texts,
        about(
            "Tools that must not be called.",
            example=["delete"],
            elsewhere=("denied", "deny"),
            words="a list of tools",
        ),
    ] = ()
    max_repeats: Annotated[
        Count | None,
        about("How often the same call, with the same arguments, may be made.", example=2),
    ] = None
    errors: Annotated[Literal["allow", "forbid"], about("Whether calls may fail.")] = "allow"
    steps: Annotated[Text | None, about_steps("Instead of the calls in the answer, use")] = None

    def conflicts(self) -> Iterator[OptionFault]:
        nothing: tuple[object, ...] = (None, {}, (), "allow")
        said = (self.min, self.max, self.needed, self.forbidden, self.max_repeats, self.errors)
        if all(each in nothing for each in said):
            needs = "the grader `tool_calls` needs an option, such as `max` or `needed`"
            yield OptionFault((), needs, code="missing-option")
        if self.min == 0 and all(each in nothing for each in said[1:]):
            yield OptionFault(("min",), "every answer has at least 0", "say at least 1, or a `max`")
        yield from find_crossed(self.min, self.max)
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
