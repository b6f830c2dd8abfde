"""Whether a regular expression is found in every text, since nothing at all is a match of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalcase.text.parsed_pattern import parse_pattern

_BEGINNING = frozenset({"AT_BEGINNING", "AT_BEGINNING_STRING"})
_END = frozenset({"AT_END", "AT_END_STRING"})
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def is_found_everywhere(pattern: str) -> bool:
    """Whether a search for a valid pattern succeeds in whatever text, as for `x*`, `a|` and `^`.
    False where that can't be seen."""
    try:
        parsed = parse_pattern(pattern)
        return any(_takes_nothing(parsed, place) for place in (_BEGINNING, _END))
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return False


def _takes_nothing(parsed: Sequence[tuple[Any, Any]], place: frozenset[str]) -> bool:
    """Whether all of it matches an empty text at a place, whatever is beside it."""
    return all(_may_be_empty(str(code), given, place) for code, given in parsed)


def _may_be_empty(code: str, given: Any, place: frozenset[str]) -> bool:  # noqa: ANN401 - of `re`
    if code == "AT":
        return str(given) in place
    if code in _REPEATS:
        least, _, repeated = given
        return bool(least == 0) or _takes_nothing(repeated, place)
    if code == "SUBPATTERN":
        return _takes_nothing(given[-1], place)
    if code == "ATOMIC_GROUP":
        return _takes_nothing(given, place)
    return code == "BRANCH" and any(_takes_nothing(each, place) for each in given[1])
