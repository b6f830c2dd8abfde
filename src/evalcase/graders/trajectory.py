"""The tool calls of the answer against those that are expected: which were made, in which order."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, ClassVar, Literal

from evalcase.graders.compare.call_match import (
    Call,
    Match,
    describe_calls,
    match_calls,
    read_calls,
    takes_long,
)
from evalcase.graders.compare.call_options import Arguments, ExpectedCalls, ToolRule
from evalcase.graders.compare.call_rows import align_calls
from evalcase.graders.compare.call_rules import CallRules
from evalcase.graders.compare.patterns import Searcher, settle
from evalcase.graders.compare.reference import NO_REFERENCE
from evalcase.graders.compare.traced import about_steps, calls_of_steps, steps_like
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import OptionFault, Text, about, of_kind
from evalcase.types.problem import did_you_mean, find_nearest
from evalcase.types.value import JSON
from evalcase.util.calls import seen_calls
from evalcase.util.text import list_some, write_count

_NO_CALLS = Score(None, "there is nothing to compare: `expected_output` has no tool calls")
_NAMED = 5

Order = Annotated[
    Literal["exact", "in_order", "any_order"],
    of_kind(synonyms={"strict": "exact", "ordered": "in_order", "unordered": "any_order"}),
]


class TrajectoryGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "trajectory", "The tools were called as expected.", "value", half="calls",
        example="- {type: trajectory, value: [{tool: search, input: {q: Peru}}, answer]}",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[
        ExpectedCalls | None,
        about(
            "The expected calls; by default, those of `expected_output`.",
            example=[{"tool": "search", "input": {"q": "Peru"}}],
            elsewhere=("expected", "calls"),
        ),
    ] = None
    order: Annotated[
        Order,
        about("How strictly the order of calls is compared.", elsewhere=("mode",)),
    ] = "in_order"
    arguments: Annotated[
        Arguments,
        about(
            "`exact`: equal. `contains`: the call has all expected arguments, and may have more. "
            "`within`: the reverse. `ignore`: not compared.",
            elsewhere=("args",),
        ),
    ] = "contains"
    extra: Annotated[
        Literal["allow", "forbid"] | None,
        about("Whether other calls are allowed; by default they are, unless `order` is `exact`."),
    ] = None
    missing: Annotated[
        Literal["forbid", "allow"], about("Whether expected calls may be left out.")
    ] = "forbid"
    tools: Annotated[
        dict[str, ToolRule],
        about(
            "How to compare the arguments of specific tools, by name.",
            words="a mapping of tools to rules",
        ),
    ] = {}

    steps: Annotated[Text | None, about_steps("Instead of the calls in the answer, use")] = None

    @property
    def allows_extra(self) -> bool:
        return self.order != "exact" if self.extra is None else self.extra == "allow"

    def conflicts(self) -> Iterator[OptionFault]:
        if self.missing == "allow" and self.allows_extra:
            what = "`missing: allow` goes with `extra: forbid`: else whatever is called passes"
            yield OptionFault(("missing",), what)
        if self.value == () and self.allows_extra:
            yield OptionFault(("value",), "`value` is empty, and any call is allowed")
        for name in () if self.value is None else _find_unused(self.tools, self.value):
            what = f"`tools` has a rule for `{name}`, of which no call is expected"
            hint = did_you_mean(name, [call.name for call in self.value or ()])
            yield OptionFault(("tools", name), what, hint, at="key")

    def missing_in(self, case: Case) -> str | None:
        """A call for each rule whose tool is misspelt. Graders of a suite may have rules for tools
        that this case has no use for."""
        if self.value is not None or not self.tools:
            return None
        calls = _calls_expected(case)
        others = {call.name for call in calls} - self.tools.keys()
        for name in _find_unused(self.tools, calls):
            meant = find_nearest(name, others)
            if meant is not None:
                return f"a call of `{name}` (did you mean `{meant}`?) for its rule in `tools`"
        return None

    def compares_expected(self) -> bool:
        return self.value is None

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        expected = self._expected(context)
        if isinstance(expected, Score):
            return expected
        made: Sequence[Call]
        if self.steps is None:
            made = read_calls(seen_calls(context.answer))
        else:
            made = calls_of_steps(steps_like(context.answer, self.steps))
        return settle(partial(self._judge, expected, made), takes_long=takes_long(expected, made))

    def _expected(self, context: Context) -> Sequence[Call] | Score:
        if self.value is not None:
            return self.value
        expected = _calls_expected(context.case)
        return expected or (_NO_CALLS if context.case.expected_output else NO_REFERENCE)

    def _judge(self, expected: Sequence[Call], made: Sequence[Call], searcher: Searcher) -> Score:
        rules = CallRules(self.arguments, self.tools, searcher)
        matches = match_calls(expected, made, rules.lacking, self.order, searcher.is_given_up)
        matched = sum(match.is_made for match in matches)
        needed = matched if self.missing == "allow" else len(expected)
        held = {match.number for match in matches if match.is_made}
        extra = [] if self.allows_extra else [c for n, c in enumerate(made) if n not in held]
        steps = needed + len(extra)
        details: dict[str, JSON] = {}
        if matched < steps:
            details["calls"] = align_calls(expected, made, matches, allow_extra=self.allows_extra)
        said = self._reason(expected, made, matches, extra, rules)
        if extra:
            said += f"; {matched} ÷ ({needed} + {len(extra)})"
        return Score(round(matched / steps, 9) if steps else 1.0, said, details)

    def _reason(
        self, expected: Sequence[Call], made: Sequence[Call], matches: Sequence[Match],
        extra: Sequence[Call], rules: CallRules,
    ) -> str:  # fmt: skip
        matched = sum(match.is_made for match in matches)
        if not expected:
            said = ["no calls are expected"]
        elif self.missing == "allow" and matched < len(expected):
            said = [f"{matched} of {len(expected)} expected calls made, and the others may be left"]
        else:
            said = list(describe_calls(expected, made, matches, rules.lacking, self.order))
        if extra:
            names = list_some(map(str, extra[:_NAMED]), len(extra))
            said.append(f"{write_count(len(extra), 'call')} not expected: {names}")
        return "; ".join(said)


def _calls_expected(case: Case) -> Sequence[Call]:
    messages = [each for each in case.expected_output if each.role == "assistant"]
    return read_calls([call for each in messages for call in each.tool_calls])


def _find_unused(tools: Mapping[str, ToolRule], calls: Sequence[Call]) -> list[str]:
    """The tools that have a rule, and no call to which it would apply."""
    named = {call.name for call in calls}
    return [name for name in tools if name not in named]
