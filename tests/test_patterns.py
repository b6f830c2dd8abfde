"""Regular expressions that evalcase applies to the text of others: none may try one text in more
ways than it has characters."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import evalcase
from tests.for_each import for_each

_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from patterns_in(each)
    elif isinstance(value, dict):
        yield from patterns_in(list(value.values()))


def all_patterns() -> dict[str, re.Pattern[Any]]:
    """Every pattern that a module has a name for."""
    found = {}
    for module in pkgutil.walk_packages(evalcase.__path__, "evalcase."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                for pattern in patterns_in(value):
                    found[f"{module.name}.{name}"] = pattern
    return found


def alternatives(sequence: Any) -> Iterator[list[Any]]:
    """The sequences that a part of a pattern may stand for, groups opened."""
    items = list(sequence)
    if len(items) == 1 and items[0][0] is codes.SUBPATTERN:
        yield from alternatives(items[0][1][3])
    elif len(items) == 1 and items[0][0] is codes.BRANCH:
        for each in items[0][1][1]:
            yield from alternatives(each)
    else:
        yield items


def has_open_end(item: Any) -> bool:
    return item[0] in _REPEATS and item[1][1] is codes.MAXREPEAT


def nested_repeats(sequence: Any) -> Iterator[Any]:
    """What repeats, without end, something that is nothing but a repeat without end: a text of it
    can be cut up in as many ways as there are sums of its length."""
    for item in sequence:
        inner: list[Any] = []
        if item[0] in _REPEATS:
            inner = [item[1][2]]
            if has_open_end(item):
                for each in alternatives(item[1][2]):
                    if all(map(has_open_end, each)):
                        yield item
        elif item[0] is codes.SUBPATTERN:
            inner = [item[1][3]]
        elif item[0] is codes.BRANCH:
            inner = list(item[1][1])
        elif item[0] in (codes.ASSERT, codes.ASSERT_NOT):
            inner = [item[1][1]]
        for each in inner:
            yield from nested_repeats(each)


def is_explosive(pattern: re.Pattern[Any]) -> bool:
    return any(nested_repeats(parser.parse(pattern.pattern, pattern.flags)))


def test_no_pattern_repeats_a_repeat() -> None:
    found = all_patterns()
    assert len(found) > 40
    assert [name for name, pattern in found.items() if is_explosive(pattern)] == []


@for_each("text", [r"(a+)*b", r"(?:[ \t]+|#.*)*", r"x(?:(?:a*|b))+y", r"(?=(a+)+$)"])
def test_one_that_does_is_found(text: str) -> None:
    assert is_explosive(re.compile(text))


@for_each("text", [r"a*(?:b a*)*", r"(?:a|b)*", r"(?:\.\w+)*", r"(?:a+){1,3}"])
def test_one_that_does_not_is_not(text: str) -> None:
    assert not is_explosive(re.compile(text))
