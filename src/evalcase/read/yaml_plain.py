"""A YAML text that is plainly a list of cases, each of them a few texts on lines of their own, to
its value; any other text is left to libyaml.

Many suites are no more than that, and each line of them needs one look: the events that libyaml
makes of it take six times as long. Nothing is decided here: where a line might be anything but a
key and its text, or number, on that line, the answer is that somebody else has to look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from re import MULTILINE, Pattern
from typing import Any

from evalcase.model.json_value import JSON
from evalcase.read import scalars

_KEY = "[a-z][a-z_]{0,40}"
# In plain text a colon before a space makes a key of it, and a `#` after one begins a comment.
_PLAIN = r"\w[^:#\n]*(?:(?::(?=\S)|(?<=\S)#)[^:#\n]*)*(?<! )"
_VALUE = rf"""(?:({_PLAIN})|"([^"\\\n]*)"|'([^'\n]*)')"""
_NOTHING = r" *(?:#[^\n]*)?"
_FIELD = re.compile(rf"^(?:({_KEY}): {_VALUE}|{_NOTHING})\n", MULTILINE)
_HEAD = re.compile(rf"(?:(?:{_KEY}: {_VALUE}|{_NOTHING})\n)*?cases:\n")
_FIRST_ITEM = re.compile(rf"(?:{_NOTHING}\n)*?( *)- ")
_MOST_INDENT = 4
_BLOCK = 1 << 16
"""So many bytes are looked at together: of a text that is left to others, all that is looked at in
vain."""


def read_plain_suite(source: str | bytes, odd_keys: frozenset[str]) -> JSON:
    """The value of a text; None where libyaml has to read it. Whoever wants to know more of some
    keys names them as odd."""
    data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    blocks = _split_blocks(data)
    first = next(blocks, "")
    head = _HEAD.match(first)
    end = 0 if head is None else head.end()
    suite = {} if head is None else _read_fields(first[:end].removesuffix("cases:\n"), odd_keys)
    item = _FIRST_ITEM.match(first, end)
    if suite is None or item is None or len(item[1]) > _MOST_INDENT:
        return None
    look, cases = _pattern_of_items(item[1]).findall, list[JSON]()
    for text in _chain_blocks(first[end:], blocks):
        lines = look(text)
        if not _is_all(lines, text) or not _add_lines(lines, cases, odd_keys):
            return None
    return cases if head is None else {**suite, "cases": cases}


def _split_blocks(data: bytes) -> Iterator[str]:
    """The text in blocks of whole lines."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        text = data[start:end].decode("utf-8", "surrogatepass")
        yield text if text.endswith("\n") else text + "\n"
        start = end


def _chain_blocks(first: str, others: Iterator[str]) -> Iterator[str]:
    yield first
    yield from others


def _is_all(lines: list[Any], text: str) -> bool:
    """Whether lines that were found are all that there are, and nothing in them is unusual: a
    control character, a mark that can't be seen, or what some take for the end of a line."""
    return len(lines) == text.count("\n") and text.replace("\n", "").isprintable()


@lru_cache
def _pattern_of_items(indent: str) -> Pattern[str]:
    line = rf"^(?:{indent}(- |  )({_KEY}): {_VALUE}|{_NOTHING})\n"
    return re.compile(line, MULTILINE)


def _read_fields(text: str, odd_keys: frozenset[str]) -> dict[str, JSON] | None:
    """What stands before the cases; None if somebody else has to look at it."""
    lines = _FIELD.findall(text)
    if not _is_all(lines, text):
        return None
    fields: dict[str, JSON] = {}
    as_one_case = [("", *line) for line in lines]
    return fields if _add_lines(as_one_case, [fields], odd_keys | {"cases"}) else None


def _add_lines(
    lines: list[tuple[str, str, str, str, str]], cases: list[JSON], odd_keys: frozenset[str]
) -> bool:
    """Add what the lines say, each of them a dash or none, a key, and a text in one of three ways;
    False if somebody else has to look at one."""
    starts = scalars.STARTS
    case: Any = cases[-1] if cases else None
    for dash, key, plain, double, single in lines:
        if not key:
            continue
        value: Any = plain or double or single
        if plain and plain[0] in starts:
            value = _read_plain(plain)
            if value is _ODD:
                return False
        if key in odd_keys:
            return False
        if dash == "- ":
            case = {key: value}
            cases.append(case)
        elif case is None or key in case:
            return False
        else:
            case[key] = value
    return True


_ODD = object()
"""In place of a number that is not written as nearly all are."""


def _read_plain(text: str) -> object:
    if text in scalars.WORDS:
        return scalars.WORDS[text]
    usual = scalars.USUAL_NUMBER.fullmatch(text)
    if usual is not None:
        return int(text) if usual.lastindex is None else float(text)
    try:
        return text if type(scalars.read_plain(text)) is str else _ODD
    except scalars.NotJsonScalarError:
        return _ODD
