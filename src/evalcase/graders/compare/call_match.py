"""Which expected tool calls were made, in their order; and for those that weren't, what came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalcase.graders.compare.json_difference import (
    Difference,
    find_differences,
    list_differences,
)
from evalcase.model.json_value import JSON
from evalcase.model.message import ToolCall
from evalcase.text.answer_value import too_deep
from evalcase.text.readable import arguments_text, call_text

_LARGEST_TABLE = 10_000
_NAMED = 5
_LONGEST = 80


class Call(NamedTuple):
    """A call with its arguments read once, whichever form it was written in."""

    name: str
    arguments: JSON

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
    return [Call(call.name, call.arguments) for call in calls]


def match_calls(expected: Sequence[Call], got: Sequence[Call]) -> list[Match]:
    """What each expected call is held against, as many as can be in order."""
    found = _match_first(expected, got)
    if None in found and len(expected) * len(got) <= _LARGEST_TABLE:
        found = _match_most(expected, got)
    held = set(found)
    free = [at for at in range(len(got)) if at not in held]
    return [
        Match(at, True) if at is not None else _nearest(call, got, free)
        for call, at in zip(expected, found, strict=True)
    ]


def _nearest(call: Call, got: Sequence[Call], free: list[int]) -> Match:
    namesakes = [at for at in free if got[at].name == call.name]
    for at in namesakes:
        if _is_made(call, got[at]):
            return Match(elsewhere=at)
    if not namesakes:
        return Match()
    # One near miss explains one missing call, not all of them.
    free.remove(namesakes[0])
    return Match(namesakes[0])


def _is_made(expected: Call, got: Call) -> bool:
    return expected.name == got.name and next(_lacking(expected, got), None) is None


def _lacking(expected: Call, got: Call) -> Iterator[Difference]:
    """How the arguments of a call fall short of the expected ones. None expected: any will do."""
    if expected.arguments is None:
        return iter(())
    if too_deep(got.arguments):
        return iter((Difference("$", "nested too deep to be compared"),))
    return find_differences(expected.arguments, got.arguments, extra_keys=True)


def _match_first(expected: Sequence[Call], got: Sequence[Call]) -> list[int | None]:
    """Each with the first that will do: if all can be matched in order, this matches them."""
    found: list[int | None] = []
    start = 0
    for call in expected:
        at = next((i for i in range(start, len(got)) if _is_made(call, got[i])), None)
        found.append(at)
        if at is not None:
            start = at + 1
    return found


def _match_most(expected: Sequence[Call], got: Sequence[Call]) -> list[int | None]:
    """The longest common subsequence, so that one call out of place costs no more than itself."""
    rows, columns = len(expected), len(got)
    made = [[_is_made(left, right) for right in got] for left in expected]
    most = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            if made[row][column]:
                most[row][column] = most[row + 1][column + 1] + 1
            else:
                most[row][column] = max(most[row + 1][column], most[row][column + 1])
    found: list[int | None] = []
    column = 0
    for row in range(rows):
        at = next((c for c in range(column, columns) if made[row][c]), None)
        if at is not None and most[row][column] == most[row + 1][at + 1] + 1:
            found.append(at)
            column = at + 1
        else:
            found.append(None)
    return found


def describe_calls(
    expected: Sequence[Call], got: Sequence[Call], matches: Sequence[Match]
) -> Iterator[str]:
    """How many were made, and a line for each that wasn't, with the nearest thing that was."""
    made = sum(match.is_made for match in matches)
    if made == len(expected):
        all_of_them = f"all {made:,} expected calls were made in order"
        yield all_of_them if made > 1 else "the expected call was made"
        return
    if not got:
        wanted = str(expected[0]) if len(expected) == 1 else f"{len(expected):,} calls"
        yield f"expected {wanted}, but the answer has no tool calls"
        return
    if len(expected) > 1:
        yield f"{made:,} of {len(expected):,} expected calls made in order"
    missing = [number for number, match in enumerate(matches) if not match.is_made]
    for number in missing[:_NAMED]:
        call = expected[number]
        label = f"call {number + 1}, {call}" if len(expected) > 1 else str(call)
        yield f"{label}: {_instead(call, got, matches[number])}"
    if len(missing) > _NAMED:
        yield f"and {len(missing) - _NAMED:,} more"


def _instead(call: Call, got: Sequence[Call], match: Match) -> str:
    if match.elsewhere is not None:
        return f"made out of order, as call {match.elsewhere + 1} of the answer"
    if match.number is not None:
        return list_differences(_lacking(call, got[match.number])).text
    names = ", ".join(each.name for each in got[:_NAMED])
    more = f" and {len(got) - _NAMED:,} more" if len(got) > _NAMED else ""
    return f"not made; the answer called {names}{more}"
