"""Which expected tool calls were made, by their order; and for those that weren't, what came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from evalcase.errors import EvalcaseError
from evalcase.graders.compare.json_difference import (
    Difference,
    find_differences,
    list_differences,
)
from evalcase.graders.compare.pairing import Alike, match_in_order, pair_same, pair_up
from evalcase.types.message import ToolCall
from evalcase.types.value import JSON, write_alike
from evalcase.util.answers import too_deep
from evalcase.util.text import arguments_text, call_text, list_some

_NAMED = 5
_MOST_PAIRS = 300_000
_QUICK_PAIRS = 10_000
"""How many pairs take a few milliseconds, if their arguments are as short as most."""
_LONGEST = 80


class Call(NamedTuple):
    """A call with its arguments read once, whichever form it was written in."""

    name: str
    arguments: JSON
    is_deep: bool = False
    """Whether its arguments are nested too deep to be compared."""
    is_open: bool = False
    """Whether only its name is said, so that its arguments don't matter."""

    @property
    def given(self) -> JSON:
        """Its arguments, where none are the same as an empty mapping of them."""
        return {} if self.arguments is None else self.arguments

    def __str__(self) -> str:
        """Cut to a length that a person reads."""
        given = arguments_text(self.arguments)
        return f"{self.name}({given if len(given) <= _LONGEST else given[:_LONGEST] + '…'})"

    def whole(self) -> str:
        """The same with all of its arguments, however long."""
        return call_text(self.name, self.arguments)


class Match(NamedTuple):
    """An expected call, and what there is of it in the answer."""

    number: int | None = None
    """The call of the answer that it is held against, counted from 0: the same, or one of that
    name which nothing else is held against."""
    is_made: bool = False
    elsewhere: int | None = None
    """Where it was made out of order."""


def read_calls(calls: Sequence[ToolCall]) -> list[Call]:
    several = [(call.name, call.arguments) for call in calls]
    return [Call(name, given, too_deep(given)) for name, given in several]


Lacking = Callable[[Call, Call], Iterator[Difference]]
"""How a call that was made falls short of an expected one of the same name."""


def find_missing(expected: Call, got: Call) -> Iterator[Difference]:
    """The expected arguments have to be part of those given. None expected: any will do."""
    if expected.arguments is None:
        return iter(())
    if got.is_deep:
        return iter((Difference("$", "nested too deep to be compared"),))
    return find_differences(expected.arguments, got.given, extra_keys=True)


def takes_long(expected: Sequence[Call], got: Sequence[Call]) -> bool:
    """Whether it may take longer to match them than others can be kept waiting for."""
    return len(expected) * len(got) > _QUICK_PAIRS


def _never_give_up() -> bool:
    return False


def _refuse_too_many(expected: Sequence[Call], got: Sequence[Call], order: str) -> None:
    """An answer may hold any number of calls, and each may have to be held against each."""
    made = Counter(call.name for call in got)
    if order != "exact" and sum(made[call.name] for call in expected) > _MOST_PAIRS:
        many = f"{len(expected):,} expected calls and {len(got):,} that were made"
        raise EvalcaseError(f"{many} are too many to be compared")


def match_calls(
    expected: Sequence[Call],
    got: Sequence[Call],
    lacking: Lacking = find_missing,
    order: str = "in_order",
    is_given_up: Callable[[], bool] = _never_give_up,
) -> list[Match]:
    """What each expected call is held against, as many as can be by their order. Raise
    InterruptedError once nobody waits for it any more."""

    _refuse_too_many(expected, got, order)
    known: dict[tuple[int, int], bool] = {}

    def is_made(left: int, right: int) -> bool:
        if expected[left].name != got[right].name:
            return False
        made = known.get((left, right))
        if made is None:
            if is_given_up():
                raise InterruptedError
            made = next(lacking(expected[left], got[right]), None) is None
            known[left, right] = made
        return made

    if order == "exact":
        found = [at if at < len(got) and is_made(at, at) else None for at in range(len(expected))]
    else:
        found = match_in_order(len(expected), len(got), is_made)
        if order == "any_order" and None in found:
            same = pair_same(_write_calls(expected), _write_calls(got))
            begun = [at if at is not None and is_made(n, at) else None for n, at in enumerate(same)]
            found = pair_up(len(expected), len(got), is_made, begun)
    held = set(found)
    free: dict[str, list[int]] = {}
    for at, call in enumerate(got):
        if at not in held:
            free.setdefault(call.name, []).append(at)
    return [
        Match(at, True)
        if at is not None
        else _find_nearest_call(number, free.get(call.name, []), is_made)
        for number, (call, at) in enumerate(zip(expected, found, strict=True))
    ]


def _write_calls(calls: Sequence[Call]) -> list[str]:
    return [f"{call.name} {'' if call.is_deep else write_alike(call.given)}" for call in calls]


def _find_nearest_call(number: int, namesakes: list[int], is_made: Alike) -> Match:
    """What an expected call that is not held against anything can be: the same out of order, or
    one of its name, which it then takes from the others."""
    for at in namesakes:
        if is_made(number, at):
            return Match(elsewhere=at)
    # One near miss explains one missing call, not all of them.
    return Match(namesakes.pop(0)) if namesakes else Match()


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
        call = expected[number]
        label = f"call {number + 1}, {call}" if len(expected) > 1 else str(call)
        yield f"{label}: {_tell_instead(call, got, matches[number], lacking)}"
    if len(missing) > _NAMED:
        yield f"and {len(missing) - _NAMED:,} more"


_ORDERS = {"exact": " at their places", "in_order": " in order", "any_order": ""}


def _tell_instead(call: Call, got: Sequence[Call], match: Match, lacking: Lacking) -> str:
    if match.elsewhere is not None:
        return f"made out of order, as call {match.elsewhere + 1} of the answer"
    if match.number is not None:
        return list_differences(lacking(call, got[match.number])).text
    names = list_some((each.name for each in got[:_NAMED]), len(got))
    return f"not made; the answer called {names}"
