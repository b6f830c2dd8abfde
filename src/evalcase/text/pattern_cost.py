"""How much work a regular expression can make, at worst: a pattern in, a bound on its steps out.

Python's matcher tries one way after the other, and nothing can interrupt it. How many ways there
are follows from the pattern: each repeat of one character multiplies them by the length of the
text, and a repeat of what can be read in several ways has no bound worth the name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from evalcase.text.parsed_pattern import parse_pattern

_MOST_WAYS = 10**9


class Ways(NamedTuple):
    """At most `factor` × length to the power of `degree` ways to match."""

    factor: int
    degree: int


_ONE = Ways(1, 0)
_PLAIN = frozenset({
    "LITERAL", "NOT_LITERAL", "ANY", "IN", "AT", "RANGE", "CATEGORY", "FAILURE",
})  # fmt: skip


def worst_steps(pattern: str, length: int, full: bool = False) -> int | None:
    """How many steps a search takes at worst in a text of a length; None if there is no bound.

    It begins at every character, unless it is `full`, and all of the text has to match.
    """
    ways = ways_of(pattern)
    if ways is None:
        return None
    steps: int = ways.factor * (length + 1) ** ways.degree
    return steps if full else steps * (length + 1)


@lru_cache(maxsize=512)
def ways_of(pattern: str) -> Ways | None:
    """In how many ways a valid pattern can match at one place; None if there is no bound."""
    try:
        return _of_sequence(parse_pattern(pattern))
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return None


class _UnboundedError(ValueError):
    """No bound can be given."""


def _of_sequence(parsed: Sequence[tuple[Any, Any]]) -> Ways:
    found = _ONE
    for code, argument in parsed:
        found = _multiply_ways(found, _of_one(str(code), argument))
    return found


def _of_one(code: str, argument: Any) -> Ways:  # noqa: ANN401 - whatever the parser gives
    if code in _PLAIN:
        return _ONE
    if code == "SUBPATTERN":
        return _of_sequence(argument[3])
    if code == "ATOMIC_GROUP":
        return _of_sequence(argument)
    if code in ("ASSERT", "ASSERT_NOT"):
        return _of_sequence(argument[1])
    if code == "BRANCH":
        branches = [_of_sequence(each) for each in argument[1]]
        return _bound_ways(
            sum(each.factor for each in branches), max(each.degree for each in branches)
        )
    if code in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _of_repeat(*argument)
    raise _UnboundedError(code)


def _of_repeat(least: int, most: int, inside: Sequence[tuple[Any, Any]]) -> Ways:
    item = _of_sequence(inside)
    is_endless = int(most) >= _MOST_WAYS
    if item == _ONE:
        return Ways(1, 1) if is_endless else _bound_ways(int(most) - int(least) + 1, 0)
    if is_endless or int(most) > 30:
        raise _UnboundedError("a repeat of what can be read in several ways")
    return _bound_ways(
        sum(item.factor**times for times in range(int(most) + 1)), item.degree * int(most)
    )


def _multiply_ways(left: Ways, right: Ways) -> Ways:
    return _bound_ways(left.factor * right.factor, left.degree + right.degree)


def _bound_ways(factor: int, degree: int) -> Ways:
    if factor > _MOST_WAYS or degree > 8:
        raise _UnboundedError("too many ways")
    return Ways(factor, degree)
