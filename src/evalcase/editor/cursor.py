"""A cursor: the path of a position in the data of a text, the fields beside it, and the token at
it. The text may be unfinished.

A mark is put where the cursor stands, and the parser tells where in the data it turns up. Where it
can't be reached, what is open on the line is closed, and lines above that break the text are left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
)

from evalcase.format.json import NotJsonScalarError, read_plain
from evalcase.format.positions import Format
from evalcase.types.problem import KeyPath
from evalcase.types.value import JSON

CursorSlot = Literal["key", "value", "item", "text"]
"""What can be written there: the name of a field, its value, an item of a list, or free text."""


class Token(NamedTuple):
    """The word at a cursor. Columns count code points from 0."""

    text: str
    start: int
    end: int
    quote: str = ""
    """How it begins, if it is in quotes."""
    has_colon: bool = False
    """Whether a colon follows, so that it is the name of a field for certain."""


class Cursor(NamedTuple):
    path: KeyPath
    """Of the mapping whose key is written, or of the value itself."""
    slot: CursorSlot
    token: Token
    beside: tuple[dict[str, JSON] | None, ...] = ()
    """For each node on the path, and the last: the other fields of a mapping; None for a list."""
    in_flow: bool = False
    """Whether it is between brackets, where a line may hold several fields."""

    def value(self, leaf: JSON) -> JSON:
        """The data around the cursor, with a leaf at its own place. A list has the one item that
        leads there."""
        value = leaf
        for step, beside in zip(reversed(self.path), reversed(self.beside[:-1]), strict=True):
            value = [value] if isinstance(step, int) else {**(beside or {}), step: value}
        return value

    @property
    def fields(self) -> dict[str, JSON]:
        """What is written already of the mapping at the path."""
        return (self.beside[-1] if self.beside else None) or {}


NOWHERE = Cursor((), "text", Token("", 0, 0))


def value_below(value: JSON, step: str | int) -> JSON:
    """What `Cursor.value` has at a step of its path."""
    if isinstance(step, int):
        return value[0] if isinstance(value, list) and value else None
    return value.get(step) if isinstance(value, dict) else None


def read_scalar(source: str) -> JSON:
    """Text in quotes without them, words with a meaning and numbers as such, else the text."""
    source = source.strip()
    if source[:1] in ("'", '"'):
        return source.strip(source[0])
    try:
        return read_plain(source)
    except NotJsonScalarError:
        return source


def find_cursor(lines: Sequence[str], format: Format, line: int, column: int) -> Cursor:
    """What a position, counted from 0, means in the lines of a text."""
    if line >= len(lines):
        return NOWHERE
    if format == "jsonl":
        lines, line = lines[line : line + 1], 0
    if format != "yaml":
        lines = [_SURROGATE.sub("??????", each) for each in lines]
    lines = [*lines[: line + _MOST_BELOW]]
    for _ in range(_MOST_REPAIRS):
        found = _find_mark(lines, line, column)
        if isinstance(found, Cursor):
            return found
        lines[found] = ""  # a mistake above the cursor
    return NOWHERE


_MARK = "\ue000"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_BARE_LINE = re.compile(r" *[\w$./-]*\s*")
_REST_OF_WORD = re.compile(r"[^\s,:\[\]{}\"']*")
_MOST_REPAIRS = 8
_MOST_BELOW = 2000
"""How many lines below the cursor are searched for fields beside it."""


class _Attempt(NamedTuple):
    """The line of the cursor with the mark in it."""

    line: str
    gap: int = 0
    """How many blanks were put before the mark."""
    end: int | None = None
    """Where the token ends, if what stands behind it was left out."""
    is_block: bool = False
    """Whether it makes sense only outside of brackets."""


def _mark_line(text: str, column: int) -> Iterator[_Attempt]:
    """The ways to read a line, the likeliest first."""
    before, after = text[:column], text[column:]
    if _BARE_LINE.fullmatch(text) and not text.lstrip().startswith("- "):
        yield _Attempt(f"{before}{_MARK}{after.rstrip()}:", is_block=True)  # its colon is to come
    gap = " " if before.endswith(":") else ""
    yield _Attempt(f"{before}{gap}{_MARK}{after}", len(gap))
    if gap:
        yield _Attempt(f"{before}{_MARK}{after}")
    word = _REST_OF_WORD.match(after)[0]  # type: ignore[index]
    for close in ("", '"', "'", ",", '",', "',"):
        yield _Attempt(f"{before}{gap}{_MARK}{word}{close}", len(gap), column + len(word))


def _find_mark(lines: list[str], line: int, column: int) -> Cursor | int:
    """The cursor; or the line above it that has to be left out, so that it can be found."""
    failed_at = line
    for attempt in _mark_line(lines[line], column):
        reader = _Reader()
        error = reader.read("\n".join([*lines[:line], attempt.line, *lines[line + 1 :]]))
        found, mark = reader.cursor, reader.mark
        if mark is None:
            if error is None:
                return NOWHERE  # in a comment
            failed_at = min(failed_at, error)
        elif found.in_flow and attempt.is_block:
            continue
        elif mark.start_mark.line == mark.end_mark.line:
            for each in found.beside:
                if each is not None:
                    each.pop(_MARK, None)
            columns = min(mark.start_mark.column, column), mark.end_mark.column
            return found._replace(token=_read_token(lines[line], columns, found.slot, attempt))
        elif not found.in_flow and mark.style not in ("'", '"'):
            return NOWHERE  # a text of several lines
    return failed_at if failed_at < line else NOWHERE


def _read_token(line: str, columns: tuple[int, int], slot: CursorSlot, attempt: _Attempt) -> Token:
    start, end = columns[0], attempt.end
    if end is None:
        end = min(columns[1] - len(_MARK) - attempt.gap, len(line))
    text = line[start:end]
    has_colon = slot == "key" and line[end:].lstrip(" ").startswith(":")
    return Token(text, start, end, text[:1] if text[:1] in ("'", '"') else "", has_colon)


class _Frame(Struct):
    """A mapping or a list that is being read."""

    value: Any
    in_flow: bool
    key: str = ""
    takes_value: bool = False
    """Whether the value of the key comes next."""

    @property
    def step(self) -> str | int:
        """The key or the number of what was added last."""
        return self.key if isinstance(self.value, dict) else len(self.value) - 1


class _Reader:
    """Reads a text as far as it can be read, and finds the mark."""

    def __init__(self) -> None:
        self.mark: Any = None
        self.cursor = NOWHERE
        """At the mark. The collections around it are still being filled."""
        self._frames: list[_Frame] = []
        self._anchors: dict[str | None, JSON] = {}

    def read(self, text: str) -> int | None:
        """The line of the mistake that ends the reading; None if there is none."""
        try:
            parser = CParser(text)
            while (event := parser.get_event()) is not None:
                self._take(event)
        except MarkedYAMLError as error:
            is_open = "flow" in (error.context or "") or "quoted" in (error.context or "")
            mark: Any = error.context_mark if is_open else error.problem_mark
            return int(mark.line)
        except YAMLError:  # a character that YAML doesn't allow
            return len(text)
        return None

    def _take(self, event: object) -> None:
        if isinstance(event, ScalarEvent):
            last = self._frames[-1] if self._frames else None
            is_key = last is not None and isinstance(last.value, dict) and not last.takes_value
            value = event.value if is_key or not event.implicit[0] else read_scalar(event.value)
            if _MARK in event.value:
                value, self.mark, self.cursor = _MARK, event, self._find_cursor()
            self._add(value)
            self._anchors[event.anchor] = value
        elif isinstance(event, CollectionStartEvent):
            value = {} if isinstance(event, MappingStartEvent) else []
            self._add(value)
            self._anchors[event.anchor] = value
            self._frames.append(_Frame(value, bool(event.flow_style)))
        elif isinstance(event, CollectionEndEvent):
            self._frames.pop()
        elif isinstance(event, AliasEvent):
            self._add(self._anchors.get(event.anchor))
        elif isinstance(event, DocumentStartEvent):
            self._frames = []

    def _add(self, value: JSON) -> None:
        """A key, or a value at its place."""
        if not self._frames:
            return
        frame = self._frames[-1]
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.takes_value:
            frame.takes_value = False
            frame.value.setdefault(frame.key, value)
        else:
            frame.takes_value = True
            frame.key = value if isinstance(value, str) else ""

    def _find_cursor(self) -> Cursor:
        steps = [each.step for each in self._frames[:-1]]
        beside = [each.value if isinstance(each.value, dict) else None for each in self._frames]
        slot: CursorSlot = "key"
        if self._frames:
            last = self._frames[-1]
            if isinstance(last.value, list):
                slot = "item"
                steps.append(len(last.value))
            elif last.takes_value:
                slot = "value"
                steps.append(last.key)
        beside += [{}] if slot != "key" or not self._frames else []
        in_flow = any(each.in_flow for each in self._frames)
        return Cursor(tuple(steps), slot, NOWHERE.token, tuple(beside), in_flow)
