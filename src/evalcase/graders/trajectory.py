"""The tool calls of the answer against those that are expected: which were made, in which order,
and with which arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from functools import cached_property, partial
from typing import Annotated, Literal

from msgspec import structs

from evalcase.graders.base import CALLS, NEITHER, Context, Grader, Half
from evalcase.graders.calls import (
    Agents,
    Call,
    about_steps,
    calls_of,
    check_kinds,
    compare_calls,
    expected_calls,
    find_missing,
    takes_long,
)
from evalcase.graders.differences import NOTHING, Difference, Way, find_differences, not_expected
from evalcase.graders.fields import FieldMatchers, match_field
from evalcase.graders.text import Searcher, settle
from evalcase.types.grade import Score
from evalcase.types.message import ToolCall, names_tool
from evalcase.types.options import Text, about
from evalcase.types.problem import Finding, did_you_mean
from evalcase.types.value import JSON, Value
from evalcase.util.json import JsonPath
from evalcase.util.text import list_some, write_count

_NAMED = 5

Arguments = Literal["exact", "contains", "within", "ignore"]
Order = Literal["exact", "in_order", "any_order"]


# Options


class ToolRule(Value, frozen=True):
    arguments: Annotated[Arguments | None, about("How to compare its arguments.")] = None
    fields: Annotated[FieldMatchers | None, about("Paths in its arguments, as in `fields`.")] = None

    def conflicts(self) -> Iterator[Finding]:
        if self.arguments is None and self.fields is None:
            yield Finding((), "it needs `arguments` or `fields`", code="missing-option")


class WrittenCall(Value, frozen=True):
    """A tool call as people write it, as `{tool, input}` or in OpenAI's form."""

    tool: Annotated[Text | None, about("The name of the tool.", elsewhere=("name",))] = None
    input: Annotated[JSON, about("Its arguments.", elsewhere=("args", "arguments"))] = None
    function: Annotated[JSON, about("Name and arguments, in OpenAI's form.")] = None
    output: Annotated[JSON, about("What it gave; not compared.")] = None
    id: Annotated[JSON, about("Not compared.")] = None
    type: Annotated[JSON, about("Not compared.")] = None

    def conflicts(self) -> Iterator[Finding]:
        if not names_tool(self.written()):
            yield Finding((), "a call names no `tool`", "write {tool: NAME, input: {…}}")

    def written(self) -> dict[str, JSON]:
        return {name: each for name, each in structs.asdict(self).items() if each is not None}

    def read(self) -> Call:
        call = ToolCall(self.written())
        return Call(call.name, call.arguments)


class TrajectoryGrader(Grader):
    name = "trajectory"
    description = "The tools were called as expected."
    argument = "value"
    example = "- {type: trajectory, value: [{tool: search, input: {q: Peru}}, answer]}"

    value: Annotated[
        tuple[Text | WrittenCall, ...] | None,
        about(
            "The calls, of tools or kinds such as `@shell`; by default, those expected.",
            elsewhere=("expected", "calls"),
            words="a list of tool calls",
        ),
    ] = None
    order: Annotated[Order, about("How strict their order is.", elsewhere=("mode",))] = "in_order"
    arguments: Annotated[
        Arguments,
        about(
            "`contains`: the call has all expected ones, and may have more. `within`: the reverse.",
            elsewhere=("args",),
        ),
    ] = "contains"
    extra: Annotated[
        Literal["allow", "forbid"] | None,
        about("Whether other calls are allowed; with `order: exact`, no."),
    ] = None
    missing: Annotated[Literal["forbid", "allow"], about("Whether calls may be left out.")] = (
        "forbid"
    )
    tools: Annotated[
        dict[str, ToolRule], about("How to compare the arguments of single tools.")
    ] = {}
    agent: Agents = "all"
    steps: Annotated[Text | None, about_steps("Instead of the calls in the answer, use")] = None

    @cached_property
    def expected(self) -> tuple[Call, ...]:
        """The calls that are written out; a name alone leaves the arguments open."""
        return tuple(
            Call(each, None, is_open=True) if isinstance(each, str) else each.read()
            for each in self.value or ()
        )

    @property
    def allows_extra(self) -> bool:
        return self.order != "exact" if self.extra is None else self.extra == "allow"

    def conflicts(self) -> Iterator[Finding]:
        if self.missing == "allow" and self.allows_extra:
            what = "`missing: allow` goes with `extra: forbid`: else any calls pass"
            yield Finding(("missing",), what)
        if self.value == () and self.allows_extra:
            yield Finding(("value",), "`value` is empty, and any call is allowed")
        named = [call.name for call in self.expected]
        yield from check_kinds(named, "value")
        for name in self.tools.keys() - set(named) if self.value is not None else ():
            what = f"`tools` has a rule for `{name}`, and no such call is expected"
            yield Finding(("tools", name), what, did_you_mean(name, named), at="key")

    def compares(self) -> frozenset[Half]:
        return CALLS if self.value is None else NEITHER

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        expected: Sequence[Call] = self.expected
        if self.value is None:
            expected = expected_calls(context.case)
            if not expected:
                return NOTHING
        whole = self.arguments != "ignore"
        made, unmatched = calls_of(context.answer, self.agent, self.steps, whole=whole)
        judge = partial(self._judge, expected, made, unmatched)
        return settle(judge, takes_long=takes_long(expected, made))

    def _judge(
        self, expected: Sequence[Call], made: Sequence[Call], unmatched: str, searcher: Searcher
    ) -> Score:
        lacking = partial(self._lacking, searcher)
        compared = compare_calls(expected, made, searcher.is_given_up, lacking, self.order)
        matched = compared.matched
        needed = matched if self.missing == "allow" else len(expected)
        held = {match.number for match in compared.matches if match.is_made}
        extra = [] if self.allows_extra else [c for n, c in enumerate(made) if n not in held]
        total = needed + len(extra)
        details: dict[str, JSON] = {}
        if matched < total:
            details["calls"] = compared.rows(allow_extra=self.allows_extra)
        if not expected:
            said = ["no calls are expected"]
        elif self.missing == "allow" and matched < len(expected):
            said = [f"{matched} of {len(expected)} expected calls made, and the others may be left"]
        else:
            said = list(compared.describe())
        if unmatched and matched < len(expected):
            said.append(unmatched)
        if extra:
            names = list_some(map(str, extra[:_NAMED]), len(extra))
            said.append(f"{write_count(len(extra), 'call')} not expected: {names}")
            said.append(f"{matched} ÷ ({needed} + {len(extra)})")
        return Score(round(matched / total, 9) if total else 1.0, "; ".join(said), details)

    def _lacking(self, searcher: Searcher, expected: Call, got: Call) -> Iterator[Difference]:
        """By a mode for the arguments, and by fields."""
        rule = self.tools.get(expected.name, ToolRule())
        yield from _compare_arguments(rule.arguments or self.arguments, expected, got)
        for path, matcher in (rule.fields or {}).items():
            against = matcher.against(JsonPath(path), expected.given)
            if against is None:
                continue
            outcome = match_field(JsonPath(path), against, got.arguments, searcher)
            if not outcome.matches:
                yield Difference(path, outcome.tell(against))


def _compare_arguments(mode: str, expected: Call, got: Call) -> Iterator[Difference]:
    if mode == "ignore" or expected.is_open:
        return iter(())
    if mode == "contains":
        return find_missing(expected, got)
    if mode == "exact":
        return find_differences(expected.given, got.given)
    return _find_beyond(expected.given, got.given)


def _find_beyond(expected: JSON, got: JSON, way: Way = ()) -> Iterator[Difference]:
    """What was given, and is no part of what is expected."""
    if not isinstance(expected, dict) or not isinstance(got, dict):
        yield from find_differences(expected, got, way=way)
        return
    for key, value in got.items():
        if key in expected:
            yield from _find_beyond(expected[key], value, (*way, key))
        else:
            yield not_expected((*way, key), value)
