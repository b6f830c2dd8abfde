"""Mistakes that libyaml notices too late: the place that is at fault stands before its own."""

from __future__ import annotations

import re
from typing import Any

import yaml

from evalcase.model.problem import Span
from evalcase.read.fault import Fault
from evalcase.read.lines import split_lines

_NO_SPACE = re.compile(r"[ ]*(?:- +)*([A-Za-z_]\w*):(?=[^\s:/])")
_NO_DASH = "expected '-' indicator"
_MISFIT = ("did not find expected key", _NO_DASH, "expected <document start>")
_LATE = ("mapping values are not allowed", "could not find expected ':'", *_MISFIT)
_ITEM = re.compile(r"([ ]*- +)([A-Za-z_]\w*):(?: |$)")
_KEY = re.compile(r"[ ]*([A-Za-z_]\w*):(?: |$)")
_NO_BREAK_SPACE = re.compile("[ ]*([\u00a0\u2007\u202f\u3000]+)")


def explain_neighbours(complaint: str, text: str, mark: Any) -> Fault | None:
    """What is wrong near a place that libyaml complains about, if that can be told."""
    if not any(each in complaint for each in _LATE):
        return None
    lines = split_lines(text)
    fault = _odd_spaces(lines, mark) or _no_space(lines, mark)
    if fault is None and any(each in complaint for each in _MISFIT):
        fault = _after_value(text, lines, mark)
    if fault is None and _NO_DASH in complaint:
        fault = _below_item(lines, mark)
    return fault


def _odd_spaces(lines: list[str], mark: Any) -> Fault | None:
    for number in (mark.line, mark.line - 1):
        found = _NO_BREAK_SPACE.match(lines[number]) if 0 <= number < len(lines) else None
        if found is not None:
            return odd_space_fault(number, found.start(1), found[1])
    return None


def odd_space_fault(line: int, column: int, spaces: str) -> Fault:
    span = Span(line + 1, column + 1, line + 1, column + 1 + len(spaces))
    message = f"the character U+{ord(spaces[0]):04X} looks like a space but is not one"
    return Fault("syntax", message, span, "indent with plain spaces", " " * len(spaces))


def _no_space(lines: list[str], mark: Any) -> Fault | None:
    """`input:q`, on the line of the complaint or the nearest one before it that isn't blank."""
    above = mark.line - 1
    while above > 0 and not lines[above].strip():
        above -= 1
    for number in (mark.line, above):
        found = _NO_SPACE.match(lines[number]) if 0 <= number < len(lines) else None
        if found is not None:
            span = Span(number + 1, found.start(1) + 1, number + 1, found.end() + 1)
            message, hint = "a key needs a space after its `:`", f"write `{found[1]}: …`"
            return Fault("syntax", message, span, hint, f"{found[1]}: ")
    return None


def _after_value(text: str, lines: list[str], mark: Any) -> Fault | None:
    """Text after a value that is complete: `[URGENT] call me`, or a quote that is open too long."""
    token = _token_before(text, mark.index)
    if token is None or text[token.end_mark.index : mark.index].strip(" "):
        return None
    first, last = text[token.start_mark.index], token.start_mark.line
    if first in "\"'" and token.end_mark.line > last:
        line = token.start_mark.line + 1
        column = token.start_mark.column + 1
        message = f"this quote is closed in line {mark.line + 1} only, with text after it"
        return Fault("syntax", message, Span(line, column, line, column + 1), _OPEN_QUOTE)
    if first not in "]}\"'" or token.end_mark.line != mark.line:
        return None
    end = len(lines[mark.line].rstrip())
    span = Span(mark.line + 1, mark.column + 1, mark.line + 1, max(end, mark.column + 1) + 1)
    opening = {"]": "[", "}": "{"}.get(first, first)
    hint = f"text that starts with `{opening}` must be in quotes as a whole"
    return Fault("syntax", "there is more after the end of the value", span, hint)


def _below_item(lines: list[str], mark: Any) -> Fault | None:
    """A key that should stand below the first one of an item, `- id: a`, and is not lined up."""
    key = _KEY.match(lines[mark.line]) if mark.line < len(lines) else None
    items = (_ITEM.match(lines[number]) for number in range(mark.line - 1, -1, -1))
    item = next((each for each in items if each is not None), None)
    if key is None or item is None:
        return None
    line, column, name = mark.line + 1, mark.column + 1, item[2]
    hint = (
        f"line it up with `{name}` above, in column {len(item[1]) + 1}; "
        "or start a new item with `- `, at the indentation of the others"
    )
    message = "this doesn't fit the list it is in"
    return Fault("syntax", message, Span(line, column, line, column + len(key[1])), hint)


_OPEN_QUOTE = "is the closing quote missing on this line?"


def _token_before(text: str, index: int) -> Any:
    """The last token that ends before a place."""
    last = None
    try:
        token: Any
        for token in yaml.scan(text, Loader=yaml.CSafeLoader):
            if token.start_mark.index >= index:
                break
            if token.end_mark.index > token.start_mark.index:
                last = token
    except yaml.YAMLError:
        pass
    return last
