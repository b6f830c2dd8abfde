"""Which expected tool calls were made, in their order; and for those that weren't, what came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalcase.graders.compare.excerpt import as_json
from evalcase.graders.compare.json_difference import find_differences, list_differences, too_deep
from evalcase.model.json_value import JSON
from evalcase.model.message import ToolCall

_LARGEST_TABLE = 10_000
_NAMED = 5
_LONGEST = 80


class Call(NamedTuple):
    """A call with its arguments read once, whichever form it was written in."""

    name: str
    arguments: JSON

    def __str__(self) -> str:
        """Cut to a length that a person reads."""
        given = self._given()
        return f"{self.name}({given if len(given) <= _LONGEST else given[:_LONGEST] + '…'})"

    def whole(self) -> str:
        """The same with all of its arguments, however long."""
        return f"{self.name}({self._given()})"

    def _given(self) -> str:
        """The arguments, by their names where those are names."""
        given = self.arguments
        if isinstance(given, dict) and all(str(key).isidentifier() for key in given):
            return ", ".join(f"{key}={as_json(value)}" for key, value in given.items())
        return "" if given is None else as_json(given)


def read_calls(calls: Sequence[ToolCall]) -> list[Call]:
    return [Call(call.name, call.arguments) for call in calls]


def match_calls(expected: Sequence[Call], got: Sequence[Call]) -> list[int | None]:
    """For each expected call the number of the one that it is, as many as can be in order."""
    found = _match_first(expected, got)
    if None in found and len(expected) * len(got) <= _LARGEST_TABLE:
        return _match_most(expected, got)
    return found


def _is_made(expected: Call, got: Call) -> bool:
    return expected.name == got.name and next(_lacking(expected, got), None) is None


def _lacking(expected: Call, got: Call) -> Iterator[str]:
    """How the arguments of a call fall short of the expected ones. None expected: any will do."""
    if expected.arguments is None:
        return iter(())
    if too_deep(got.arguments):
        return iter(("$: nested too deep to be compared",))
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


def describe_missing(
    expected: Sequence[Call], got: Sequence[Call], found: Sequence[int | None]
) -> Iterator[str]:
    """One line for each expected call that wasn't made, with the nearest thing that was."""
    free = [i for i in range(len(got)) if i not in set(found)]
    for number, (call, at) in enumerate(zip(expected, found, strict=True), 1):
        if at is None:
            yield f"call {number} of {len(expected)}, {call}: {_instead(call, got, free)}"


def _instead(call: Call, got: Sequence[Call], free: list[int]) -> str:
    namesakes = [i for i in free if got[i].name == call.name]
    for i in namesakes:
        if _is_made(call, got[i]):
            return f"made out of order, as call {i + 1} of the answer"
    if namesakes:
        # One near miss explains one missing call, not all of them.
        free.remove(namesakes[0])
        return list_differences(_lacking(call, got[namesakes[0]]))
    if not got:
        return "not made; the answer has no calls"
    names = ", ".join(each.name for each in got[:_NAMED])
    more = f" and {len(got) - _NAMED:,} more" if len(got) > _NAMED else ""
    return f"not made; the answer called {names}{more}"
