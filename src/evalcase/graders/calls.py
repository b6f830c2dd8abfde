"""Tool calls as graders see them: read from messages or from the steps of a trace, and held against
those that are expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from evalcase.errors import EvalcaseError
from evalcase.graders.differences import (
    SUBSET,
    Alike,
    Difference,
    find_differences,
    list_differences,
    pair_same,
    pair_up,
)
from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.message import Message, Step, ToolCall
from evalcase.types.options import about
from evalcase.types.problem import Finding, did_you_mean
from evalcase.types.value import JSON, canonical_text, fits_pattern, replace
from evalcase.util.calls import CALL_KINDS, kind_of_tool, seen_calls
from evalcase.util.text import arguments_text, call_text, list_some, shorten_text

_NAMED, _MOST_STEPS = 5, 20
_QUICK_PAIRS = 10_000
"""How many pairs take a few milliseconds, if their arguments are as short as most."""
_LONGEST, _MOST_ROWS, _LONGEST_CELL = 80, 100, 1000


class Call(NamedTuple):
    """A call with its arguments read once, whichever form it was written in."""

    name: str
    arguments: JSON
    is_open: bool = False
    """Whether only its name is given, so that its arguments don't matter."""
    kind: str = ""
    """What its tool does, written as `@shell`; empty where that is unknown."""

    def fits(self, got: Call) -> bool:
        """Whether a call that was made is of the tool, or of the kind of tools, that this names."""
        return self.name in (got.name, got.kind)

    @property
    def given(self) -> JSON:
        """Its arguments; none are the same as an empty mapping."""
        return {} if self.arguments is None else self.arguments

    @property
    def key(self) -> str:
        """The same text for equal calls."""
        return f"{self.name} {canonical_text(self.given)}"

    def __str__(self) -> str:
        return f"{self.name}({shorten_text(arguments_text(self.arguments), _LONGEST)})"

    def whole(self) -> str:
        """The same with all of its arguments, however long."""
        return call_text(self.name, self.arguments)


def read_calls(calls: Sequence[ToolCall]) -> list[Call]:
    return [_read_call(call.name, call.arguments, call.get("kind")) for call in calls]


def _read_call(name: str, arguments: JSON, said: object = None) -> Call:
    """A call; `said` is the kind that it came with, which others may call otherwise."""
    kind = said if said in CALL_KINDS else kind_of_tool(name)
    return Call(name, arguments, kind=f"@{kind}" if kind else "")


def expected_calls(case: Case) -> list[Call]:
    calls: list[ToolCall] = []
    for message in case._data.get("expected_output", ()):
        if message["role"] == "assistant" and "tool_calls" in message:
            calls += map(ToolCall, message["tool_calls"] or ())
    return read_calls(calls) if calls else []


# Coding agents

AgentsName = Literal["all", "main"]
Agents = Annotated[
    AgentsName,
    about("Whose calls count: those of `all` agents, or of the `main` one and no subagent."),
]


def check_kinds(names: Iterable[str], *path: str) -> Iterator[Finding]:
    """Faults of names that begin with `@`, and are no kind of tools."""
    for name in names:
        if name.startswith("@") and name[1:] not in CALL_KINDS:
            kinds = [f"@{each}" for each in CALL_KINDS]
            hint = did_you_mean(name, kinds) or f"there are {', '.join(kinds)}"
            yield Finding(path, f"there is no kind of tools `{name}`", hint)


def calls_by(answer: Answer, agents: AgentsName) -> Answer:
    """An answer with the calls of all agents, or of the main one only."""
    if agents == "all":
        return answer
    messages = []
    for message in answer.messages:
        calls = [each for each in message.get("tool_calls") or () if each.get("parent") is None]
        rest = {key: each for key, each in message.items() if key != "tool_calls"}
        if calls or "content" in rest:
            messages.append(Message({**rest, "tool_calls": calls} if calls else rest))
    return replace(answer, messages=tuple(messages))


# Steps of a trace


_UNTRACED = (
    "the answer has no steps: they come from traces, by the target `otlp` or by `trace = true`"
)


def about_steps(what: str) -> Meta:
    """Declares the option by which a grader looks at steps."""
    return about(
        f"{what} the steps whose span has this name; `*` and `?` are wildcards.",
        words="a name of spans", example="chat *"
    )  # fmt: skip


def steps_like(answer: Answer, name: str) -> list[Step]:
    """The steps of a name. Raise EvalcaseError where not all steps are known."""
    if not answer.steps:
        raise EvalcaseError(_UNTRACED)
    if answer.steps_cut:
        raise EvalcaseError(f"not all steps are kept: there were {answer.steps_cut:,} more")
    return [step for step in answer.steps if fits_pattern(step.name, name)]


def without_steps(answer: Answer, name: str) -> str:
    names = list(dict.fromkeys(step.name for step in answer.steps))
    return f"no step is called {name!r}; there are {list_some(names[:_MOST_STEPS], len(names))}"


def calls_of(
    answer: Answer, agents: AgentsName, steps: str | None, *, whole: bool
) -> tuple[list[Call], str]:
    """The calls of an answer, or its steps of a name: of tools by the names of those, of others by
    the names of their spans; and what to say where there is none of it. Raise EvalcaseError where
    all that they were given has to be known, and isn't."""
    if steps is None:
        return read_calls(seen_calls(calls_by(answer, agents), whole=whole)), ""
    found = steps_like(answer, steps)
    cut = [step.name for step in found if whole and step.is_cut]
    if cut:
        raise EvalcaseError(f"the step `{cut[0]}` was given more than is kept of it")
    made = [_read_call(step.tool or step.name, step.input) for step in found]
    return made, "" if found else without_steps(answer, steps)


# Whether a call is the expected one

Lacking = Callable[[Call, Call], Iterator[Difference]]
"""How a call that was made falls short of an expected one of the same name."""


def find_missing(expected: Call, got: Call) -> Iterator[Difference]:
    """The expected arguments must be part of those given. None expected: any will do."""
    if expected.arguments is None:
        return iter(())
    return find_differences(expected.arguments, got.given, SUBSET)


# Which calls are held against which

_ORDERS = {"exact": " at their places", "in_order": " in order", "any_order": ""}


class Match(NamedTuple):
    """An expected call, and what there is of it in the answer."""

    number: int | None = None
    """The call of the answer that it is held against, counted from 0: the same, or another one of
    that name."""
    is_made: bool = False
    elsewhere: int | None = None
    """Where it was made out of order."""


class Comparison(NamedTuple):
    """Expected calls and those that were made, held against each other."""

    expected: Sequence[Call]
    made: Sequence[Call]
    matches: Sequence[Match]
    lacking: Lacking
    order: str

    @property
    def matched(self) -> int:
        return sum(match.is_made for match in self.matches)

    def describe(self) -> Iterator[str]:
        """How many were made, and a line for each that wasn't, with the nearest thing that was."""
        wanted, how = len(self.expected), _ORDERS[self.order]
        missing = [number for number, match in enumerate(self.matches) if not match.is_made]
        if not missing:
            every = f"all {wanted:,} expected calls were made{how}"
            yield every if wanted > 1 else "the expected call was made"
            return
        if not self.made:
            calls = str(self.expected[0]) if wanted == 1 else f"{wanted:,} calls"
            yield f"expected {calls}, but the answer has no tool calls"
            return
        if wanted > 1:
            yield f"{self.matched:,} of {wanted:,} expected calls made{how}"
        for number in missing[:_NAMED]:
            call, match = self.expected[number], self.matches[number]
            label = f"call {number + 1}, {call}" if wanted > 1 else str(call)
            if match.elsewhere is not None:
                instead = f"made out of order, as call {match.elsewhere + 1} of the answer"
            elif match.number is not None:
                instead = list_differences(self.lacking(call, self.made[match.number])).text
            else:
                names = list_some((each.name for each in self.made[:_NAMED]), len(self.made))
                instead = f"not made; the answer called {names}"
            yield f"{label}: {instead}"
        if len(missing) > _NAMED:
            yield f"and {len(missing) - _NAMED:,} more"

    def rows(self, *, allow_extra: bool = True) -> list[JSON]:
        """Expected calls and those of the answer side by side, in the order of the answer: each row
        has `expected` and `got`, a call or null, and `made`, whether grading accepts it. A call
        that is missing stands before the next expected one that is there, with a `note`."""
        partners = {match.number: number for number, match in enumerate(self.matches)}
        placed: list[tuple[float, dict[str, JSON]]] = []
        place = inf
        for call, match in reversed(list(zip(self.expected, self.matches, strict=True))):
            if match.number is not None:
                place = match.number
                continue
            note = "not made" if self.made else "no tool calls"
            if match.elsewhere is not None:
                note = f"made out of order, as call {match.elsewhere + 1}"
            placed.insert(0, (place, _row(call, None, False, note)))
        for at, got in enumerate(self.made):
            number = partners.get(at)
            if number is not None:
                row = _row(self.expected[number], got, self.matches[number].is_made)
            else:
                row = _row(None, got, allow_extra, "" if allow_extra else "not expected")
            placed.append((at, row))
        rows: list[JSON] = [row for _, row in sorted(placed, key=lambda each: each[0])]
        if len(rows) > _MOST_ROWS:
            more = f"and {len(rows) - _MOST_ROWS:,} more calls"
            rows[_MOST_ROWS:] = [_row(None, None, True, more)]
        return rows


def _row(expected: Call | None, got: Call | None, made: bool, note: str = "") -> dict[str, JSON]:
    left, right = (each and shorten_text(each.whole(), _LONGEST_CELL) for each in (expected, got))
    row: dict[str, JSON] = {"expected": left, "got": right, "made": made}
    return {**row, "note": note} if note else row


def takes_long(expected: Sequence[Call], got: Sequence[Call]) -> bool:
    """Whether comparing them would block the event loop for too long."""
    return len(expected) * len(got) > _QUICK_PAIRS


def compare_calls(
    expected: Sequence[Call],
    got: Sequence[Call],
    is_given_up: Callable[[], bool],
    lacking: Lacking = find_missing,
    order: str = "in_order",
) -> Comparison:
    """What each expected call is held against, as many as possible by their order. Raise
    InterruptedError once it is given up."""

    @lru_cache(_QUICK_PAIRS)
    def is_made(left: int, right: int) -> bool:
        if is_given_up():
            raise InterruptedError
        wanted, call = expected[left], got[right]
        return wanted.fits(call) and next(lacking(wanted, call), None) is None

    if order == "exact":
        found = [at if at < len(got) and is_made(at, at) else None for at in range(len(expected))]
    else:
        found = match_in_order(len(expected), len(got), is_made)
        if order == "any_order" and None in found:
            # Equal calls find each other at once; the rest has to be compared one by one.
            same = pair_same([each.key for each in expected], [each.key for each in got])
            begun = [at if at is not None and is_made(n, at) else None for n, at in enumerate(same)]
            found = pair_up(len(expected), len(got), is_made, begun)
    held = set(found)
    free = [at for at in range(len(got)) if at not in held]
    matches = []
    for number, place in enumerate(found):
        match = Match(place, is_made=True)
        if place is None:  # the same call out of order, or another one of its name
            namesakes = [at for at in free if expected[number].fits(got[at])]
            elsewhere = next((at for at in namesakes if is_made(number, at)), None)
            match = Match(elsewhere=elsewhere)
            if elsewhere is None and namesakes:
                match = Match(namesakes[0])
                free.remove(namesakes[0])  # one near miss explains one missing call
        matches.append(match)
    return Comparison(expected, got, matches, lacking, order)


def match_in_order(lefts: int, rights: int, are_alike: Alike) -> list[int | None]:
    """The partner of each on the left, or None, where partners keep their order.

    As many as possible are matched; where there are too many for that, each takes the first.
    """

    def take(is_best: Callable[[int, int, int], bool]) -> list[int | None]:
        """The first partner of each that is best, after the one before."""
        found: list[int | None] = []
        start = 0
        for left in range(lefts):
            fitting = (at for at in range(start, rights) if are_alike(left, at))
            found.append(next((at for at in fitting if is_best(left, at, start)), None))
            start = start if found[-1] is None else found[-1] + 1
        return found

    found = take(lambda *_: True)
    if None not in found or lefts * rights > _QUICK_PAIRS:
        return found
    # The longest common subsequence, so that one out of place costs no more than itself.
    most = [[0] * (rights + 1) for _ in range(lefts + 1)]
    for left in reversed(range(lefts)):
        for right in reversed(range(rights)):
            either = max(most[left + 1][right], most[left][right + 1])
            most[left][right] = most[left + 1][right + 1] + 1 if are_alike(left, right) else either
    return take(lambda left, at, start: most[left + 1][at + 1] + 1 == most[left][start])
