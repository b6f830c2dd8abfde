"""The tool calls of the answer against those that are expected: which were made, in which order,
and with which arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import inf
from typing import Annotated, Literal, NamedTuple

from msgspec import structs

from evalcase.errors import EvalcaseError
from evalcase.graders.base import NEITHER, Context, Grader, Half
from evalcase.graders.differences import NOTHING
from evalcase.graders.fields import FieldMatchers, match_field
from evalcase.graders.json_differences import (
    SUBSET,
    Alike,
    Difference,
    Way,
    find_differences,
    list_differences,
    not_expected,
    pair_up,
)
from evalcase.graders.text import Searcher, settle
from evalcase.graders.tool_calls import (
    Agents,
    Call,
    about_steps,
    calls_by,
    calls_of_steps,
    check_kinds,
    read_calls,
    steps_like,
    without_steps,
)
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.message import ToolCall, names_tool
from evalcase.types.options import Text, about
from evalcase.types.problem import Finding, did_you_mean
from evalcase.types.value import JSON, Value
from evalcase.util.calls import seen_calls
from evalcase.util.json import JsonPath
from evalcase.util.text import list_some, write_count

_NAMED = 5
_MOST_PAIRS = 300_000
_QUICK_PAIRS = 10_000
"""How many pairs take a few milliseconds, if their arguments are as short as most."""
_MOST_ROWS, _LONGEST_CELL = 100, 1000

Arguments = Literal["exact", "contains", "within", "ignore"]
Order = Literal["exact", "in_order", "any_order"]


# Options


class ToolRule(Value, frozen=True):
    """How the arguments of one tool are compared."""

    arguments: Annotated[
        Arguments | None,
        about("How to compare its arguments, instead of the general setting."),
    ] = None
    fields: Annotated[
        FieldMatchers | None, about("Paths in its arguments, each with a value or a matcher.")
    ] = None

    def conflicts(self) -> Iterator[Finding]:
        if self.arguments is None and self.fields is None:
            yield Finding((), "it needs `arguments` or `fields`", code="missing-option")


class WrittenCall(Value, frozen=True):
    """A tool call as people write it, as `{tool, input}` or in OpenAI's form."""

    tool: Annotated[
        Text | None, about("The name of the tool.", example="search", elsewhere=("name",))
    ] = None
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
            "The expected calls, of tools or of kinds such as `@shell`; by default, those of "
            "`expected_output`.",
            example=[{"tool": "search", "input": {"q": "Peru"}}],
            elsewhere=("expected", "calls"),
            words="a list of tool calls",
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
        return frozenset({"calls"}) if self.value is None else NEITHER

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        expected: Sequence[Call] = self.expected
        if self.value is None:
            expected = _calls_expected(context.case)
            if not expected:
                return NOTHING
        unmatched = ""
        if self.steps is None:
            answer = calls_by(context.answer, self.agent)
            made = read_calls(seen_calls(answer, whole=self.arguments != "ignore"))
        else:
            made = calls_of_steps(steps_like(context.answer, self.steps))
            unmatched = "" if made else without_steps(context.answer, self.steps)
        judge = partial(self._judge, expected, made, unmatched)
        return settle(judge, takes_long=takes_long(expected, made))

    def _judge(
        self, expected: Sequence[Call], made: Sequence[Call], unmatched: str, searcher: Searcher
    ) -> Score:
        rules = _Rules(self.arguments, self.tools, searcher)
        matches = match_calls(expected, made, rules.lacking, self.order, searcher.is_given_up)
        matched = sum(match.is_made for match in matches)
        needed = matched if self.missing == "allow" else len(expected)
        held = {match.number for match in matches if match.is_made}
        extra = [] if self.allows_extra else [c for n, c in enumerate(made) if n not in held]
        total = needed + len(extra)
        details: dict[str, JSON] = {}
        if matched < total:
            details["calls"] = align_calls(expected, made, matches, allow_extra=self.allows_extra)
        if not expected:
            said = ["no calls are expected"]
        elif self.missing == "allow" and matched < len(expected):
            said = [f"{matched} of {len(expected)} expected calls made, and the others may be left"]
        else:
            said = list(describe_calls(expected, made, matches, rules.lacking, self.order))
        if unmatched and matched < len(expected):
            said.append(unmatched)
        if extra:
            names = list_some(map(str, extra[:_NAMED]), len(extra))
            said.append(f"{write_count(len(extra), 'call')} not expected: {names}")
            said.append(f"{matched} ÷ ({needed} + {len(extra)})")
        return Score(round(matched / total, 9) if total else 1.0, "; ".join(said), details)


def _calls_expected(case: Case) -> Sequence[Call]:
    messages = [each for each in case.expected_output if each.role == "assistant"]
    return read_calls([call for each in messages for call in each.tool_calls])


# Whether a call is the expected one

Lacking = Callable[[Call, Call], Iterator[Difference]]
"""How a call that was made falls short of an expected one of the same name."""


def find_missing(expected: Call, got: Call) -> Iterator[Difference]:
    """The expected arguments must be part of those given. None expected: any will do."""
    if expected.arguments is None:
        return iter(())
    if got.is_deep:
        return iter((_TOO_DEEP,))
    return find_differences(expected.arguments, got.given, SUBSET)


_TOO_DEEP = Difference("$", "nested too deep to be compared")


class _Rules(Value, frozen=True):
    arguments: str
    tools: Mapping[str, ToolRule]
    searcher: Searcher

    def lacking(self, expected: Call, got: Call) -> Iterator[Difference]:
        """By a mode for the arguments, and by fields."""
        rule = self.tools.get(expected.name)
        mode = rule.arguments if rule is not None and rule.arguments else self.arguments
        yield from _compare_arguments(mode, expected, got)
        for path, matcher in (rule.fields or {}).items() if rule is not None else ():
            against = matcher.against(JsonPath(path), expected.given)
            if against is None:
                continue
            outcome = match_field(JsonPath(path), against, got.arguments, self.searcher)
            if not outcome.matches:
                yield Difference(path, outcome.tell(against))


def _compare_arguments(mode: str, expected: Call, got: Call) -> Iterator[Difference]:
    if mode == "ignore" or expected.is_open:
        return iter(())
    if mode == "contains":
        return find_missing(expected, got)
    if got.is_deep:
        return iter((_TOO_DEEP,))
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


# Which calls are held against which


class Match(NamedTuple):
    """An expected call, and what there is of it in the answer."""

    number: int | None = None
    """The call of the answer that it is held against, counted from 0: the same, or another one of
    that name."""
    is_made: bool = False
    elsewhere: int | None = None
    """Where it was made out of order."""


def takes_long(expected: Sequence[Call], got: Sequence[Call]) -> bool:
    """Whether matching them would block the event loop for too long."""
    return len(expected) * len(got) > _QUICK_PAIRS


def match_calls(
    expected: Sequence[Call],
    got: Sequence[Call],
    lacking: Lacking = find_missing,
    order: str = "in_order",
    is_given_up: Callable[[], bool] = lambda: False,
) -> list[Match]:
    """What each expected call is held against, as many as possible by their order. Raise
    InterruptedError once it is given up, and EvalcaseError for too many calls."""
    names = Counter(name for call in got for name in (call.name, call.kind))
    if order != "exact" and sum(names[call.name] for call in expected) > _MOST_PAIRS:
        many = f"{len(expected):,} expected calls and {len(got):,} that were made"
        raise EvalcaseError(f"{many} are too many to be compared")
    known: dict[tuple[int, int], bool] = {}

    def is_made(left: int, right: int) -> bool:
        if not expected[left].fits(got[right]):
            return False
        if (left, right) not in known:
            if is_given_up():
                raise InterruptedError
            known[left, right] = next(lacking(expected[left], got[right]), None) is None
        return known[left, right]

    if order == "exact":
        found = [at if at < len(got) and is_made(at, at) else None for at in range(len(expected))]
    else:
        found = match_in_order(len(expected), len(got), is_made)
        if order == "any_order" and None in found:
            found = pair_up(len(expected), len(got), is_made)
    held = {at for at in found if at is not None}
    free: dict[str, list[int]] = {}
    for at in range(len(got)):
        for name in {got[at].name, got[at].kind} if at not in held else ():
            free.setdefault(name, []).append(at)
    return [
        Match(place, is_made=True)
        if place is not None
        else _explain_missing(number, free.get(expected[number].name, ()), held, is_made)
        for number, place in enumerate(found)
    ]


def _explain_missing(
    number: int, namesakes: Sequence[int], held: set[int], is_made: Alike
) -> Match:
    """The same call out of order, or another one of its name."""
    left = [at for at in namesakes if at not in held]
    elsewhere = next((at for at in left if is_made(number, at)), None)
    if elsewhere is not None or not left:
        return Match(elsewhere=elsewhere)
    held.add(left[0])  # one near miss explains one missing call, not all of them
    return Match(left[0])


def match_in_order(lefts: int, rights: int, are_alike: Alike) -> list[int | None]:
    """The partner of each on the left, or None, where partners keep their order.

    As many as possible are matched; where there are too many for that, each takes the first.
    """
    found: list[int | None] = []
    start = 0
    for left in range(lefts):
        at = next((right for right in range(start, rights) if are_alike(left, right)), None)
        found.append(at)
        start = start if at is None else at + 1
    if None not in found or lefts * rights > _QUICK_PAIRS:
        return found
    # The longest common subsequence, so that one out of place costs no more than itself.
    most = [[0] * (rights + 1) for _ in range(lefts + 1)]
    for left in reversed(range(lefts)):
        for right in reversed(range(rights)):
            either = max(most[left + 1][right], most[left][right + 1])
            most[left][right] = most[left + 1][right + 1] + 1 if are_alike(left, right) else either
    found, left, right = [None] * lefts, 0, 0
    while left < lefts and right < rights:
        if are_alike(left, right):
            found[left] = right
            left, right = left + 1, right + 1
        elif most[left][right + 1] == most[left][right]:
            right += 1
        else:
            left += 1
    return found


# Words and rows for people

_ORDERS = {"exact": " at their places", "in_order": " in order", "any_order": ""}


def describe_calls(
    expected: Sequence[Call],
    got: Sequence[Call],
    matches: Sequence[Match],
    lacking: Lacking = find_missing,
    order: str = "in_order",
) -> Iterator[str]:
    """How many were made, and a line for each that wasn't, with the nearest thing that was."""
    how = _ORDERS[order]
    made = sum(match.is_made for match in matches)
    if made == len(expected):
        all_of_them = f"all {made:,} expected calls were made{how}"
        yield all_of_them if made > 1 else "the expected call was made"
        return
    if not got:
        wanted = str(expected[0]) if len(expected) == 1 else f"{len(expected):,} calls"
        yield f"expected {wanted}, but the answer has no tool calls"
        return
    if len(expected) > 1:
        yield f"{made:,} of {len(expected):,} expected calls made{how}"
    missing = [number for number, match in enumerate(matches) if not match.is_made]
    for number in missing[:_NAMED]:
        call, match = expected[number], matches[number]
        label = f"call {number + 1}, {call}" if len(expected) > 1 else str(call)
        if match.elsewhere is not None:
            instead = f"made out of order, as call {match.elsewhere + 1} of the answer"
        elif match.number is not None:
            instead = list_differences(lacking(call, got[match.number])).text
        else:
            names = list_some((each.name for each in got[:_NAMED]), len(got))
            instead = f"not made; the answer called {names}"
        yield f"{label}: {instead}"
    if len(missing) > _NAMED:
        yield f"and {len(missing) - _NAMED:,} more"


Row = dict[str, JSON]
"""`expected` and `got`, each a call or null; `made`, whether grading accepts it; and a `note` on an
expected call that is nowhere else."""


def align_calls(
    expected: Sequence[Call],
    got: Sequence[Call],
    matches: Sequence[Match],
    *,
    allow_extra: bool = True,
) -> list[JSON]:
    """Expected calls and those of the answer side by side, in the order of the answer. A call that
    is missing stands before the next expected one that is there."""
    partners = {match.number: number for number, match in enumerate(matches)}
    placed: list[tuple[float, Row]] = []
    place = inf
    for call, match in reversed(list(zip(expected, matches, strict=True))):
        if match.number is not None:
            place = match.number
            continue
        note = "not made" if got else "no tool calls"
        if match.elsewhere is not None:
            note = f"made out of order, as call {match.elsewhere + 1}"
        row: Row = {"expected": _cut(call.whole()), "got": None, "made": False, "note": note}
        placed.insert(0, (place, row))
    for at, call in enumerate(got):
        number = partners.get(at)
        if number is not None:
            is_made = matches[number].is_made
            wanted = expected[number]
            row = {"expected": _cut(wanted.whole()), "got": _write_like(wanted, call)}
            row["made"] = is_made
        else:
            row = {"expected": None, "got": _cut(call.whole()), "made": allow_extra}
            row |= {} if allow_extra else {"note": "not expected"}
        placed.append((at, row))
    rows: list[JSON] = [row for _, row in sorted(placed, key=lambda each: each[0])]
    if len(rows) > _MOST_ROWS:
        more = f"and {len(rows) - _MOST_ROWS:,} more calls"
        rows[_MOST_ROWS:] = [{"expected": None, "got": None, "made": True, "note": more}]
    return rows


def _write_like(expected: Call, got: Call) -> str:
    """A call with the expected arguments first, so that the two can be read together."""
    if isinstance(expected.arguments, dict) and isinstance(got.arguments, dict):
        named = {key: got.arguments[key] for key in expected.arguments if key in got.arguments}
        got = got._replace(arguments={**named, **got.arguments})
    return _cut(got.whole())


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
