"""A TOML text to a document, whose faults have places like those of any other."""

from __future__ import annotations

import re
from typing import Any

from evalcase.model.json_value import MAX_DEPTH
from evalcase.model.problem import Span
from evalcase.read.document import Document
from evalcase.read.fault import Fault
from evalcase.read.lines import Lines, split_lines
from evalcase.read.toml_duplicates import find_duplicate
from evalcase.read.toml_places import LONG_TEXT, SHORT_TEXT

_TOKEN = re.compile(
    rf"""{LONG_TEXT}|\"{{3}}|'{{3}}|{SHORT_TEXT}|#[^\n]*|[ \t]+|[^ \t"'#.=,\r\n\[\]{{}}]+|.""",
    re.DOTALL,
)
_UNCLOSED = ('"', "'", '"' * 3, "'" * 3)
_ENDING = frozenset("=,\r\n[]{}")
"""What ends a key."""
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_QUOTES = "text goes in quotes"
_TWICE = ("Cannot ", "Duplicate ")
"""What tomllib says begins so where something is there already."""
_IN_WORDS = {"Cannot overwrite a value": "this name, or the beginning of it, has a value already"}
"""What tomllib says, for people."""
_NAMES = re.compile(r"\((?:'[^']*'(?:, ?)?)+\)")
_NAME = re.compile(r"'([^']*)'")


def parse_toml(source: bytes, path: str) -> Document:
    """Read one document of UTF-8. It never raises for what a text may hold."""
    import tomllib

    text = source.decode()
    if (fault := _find_long_key(text)) is not None:
        return Document(path, text, "toml", None, [fault], readable=False)
    try:
        value: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Document(path, text, "toml", None, [_make_fault(str(error), text)], readable=False)
    except (RecursionError, ValueError) as error:
        deep = isinstance(error, RecursionError)
        message = "values are nested too deep" if deep else f"a value can't be read: {error}"
        fault = Fault("too-deep" if deep else "syntax", message, Span(1, 1, 1, 1))
        return Document(path, text, "toml", None, [fault], readable=False)
    return Document(path, text, "toml", value, [])


def _find_long_key(text: str) -> Fault | None:
    """The first dotted key with too many parts: tomllib takes time by the square of their number.
    Only in a key do many dots come without one of the characters that end a key or a value."""
    if text.count(".") < MAX_DEPTH:
        return None
    dots = start = 0
    for found in _TOKEN.finditer(text):
        piece = found[0]
        if piece == ".":
            dots += 1
            if dots == MAX_DEPTH:
                span = Lines(text).span(start, found.end())
                return Fault("too-deep", f"this key has more than {MAX_DEPTH} parts", span)
        elif piece in _UNCLOSED:
            return None  # tomllib stops here, if not before
        elif piece in _ENDING or piece[0] == "#":
            dots, start = 0, found.end()
        elif found.start() == start and piece.isspace():
            start = found.end()
    return None


def _make_fault(said: str, text: str) -> Fault:
    found = _PLACE.search(said)
    lines = split_lines(text)
    line, column = len(lines), len(lines[-1]) + 1
    if found is not None:
        said = said[: found.start()]
        if found[1] is not None:
            line, column = int(found[1]), int(found[2])
    if column > len(lines[line - 1]) or said.startswith("Cannot "):
        # What is behind the last character of a line, or can't stand there, is the line's fault.
        column = len(lines[line - 1]) - len(lines[line - 1].lstrip()) + 1
        span = Span(line, column, line, len(lines[line - 1]) + 1)
    else:
        span = Span(line, column, line, column + 1)
    if said.startswith(_TWICE):
        found_twice = find_duplicate(text)
        if found_twice is not None and found_twice.second.line <= line:
            what, first, second = found_twice
            hint = f"keep one of the two; the first is in line {first.line}"
            return Fault("duplicate-key", f"{what} appears twice", second, hint)
    said = _IN_WORDS.get(said, said)
    said = _NAMES.sub(lambda names: f"`{'.'.join(_NAME.findall(names[0]))}`", said)
    message = f"this is not valid TOML: {said[:1].lower()}{said[1:]}"
    return Fault("syntax", message, span, _QUOTES if said == "Invalid value" else None)
