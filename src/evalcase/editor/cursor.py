"""A cursor: the path of a position in the data of a text, the fields beside it, and the token at
it. The text may be incomplete. Brackets, in JSON and in YAML, are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal, NamedTuple

from msgspec import Struct, field

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
        """The data around the cursor, as far as it is known, with a leaf at its own place. A list
        has the one item that leads there."""
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


_WORDS: dict[str, JSON] = {"true": True, "false": False, "null": None, "~": None, "": None}


def read_scalar(source: str) -> JSON:
    """Text in quotes without them, words with a meaning and numbers as such, else the text."""
    source = source.strip()
    if source[:1] in ("'", '"'):
        return _unquote_source(source)
    if source.lower() in _WORDS:
        return _WORDS[source.lower()]
    with suppress(ValueError):
        return int(source)
    with suppress(ValueError):
        number = float(source)
        if number - number == 0:  # neither endless nor no number at all
            return number
    return source


def _unquote_source(source: str) -> str:
    quote = source[0]
    inner = source[1:-1] if len(source) > 1 and source.endswith(quote) else source[1:]
    if quote == "'":
        return inner.replace("''", "'")
    return inner.replace('\\"', '"').replace("\\\\", "\\")


_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"?'
    r"|'(?:[^']|'')*'?"
    r"|(?<!\S)\#[^\n]*"
    r"|[\[\]{},]"
    r"|:(?=[\s,\[\]{}]|$)|(?<=[\"']):"
    r"|(?:[^\s\[\]{},:]|:(?![\s,\[\]{}]|$))(?:[^\n\[\]{},:]|:(?![\s,\[\]{}]|$))*",
    re.DOTALL,
)
"""A text in quotes that may not be closed yet, a comment, a mark, or plain text."""
_MOST_BEHIND = 20_000
"""How many characters after the cursor are searched for fields beside it."""


class Frame(Struct):
    """A bracket that is open: what it holds so far, and which part of it is being written."""

    is_mapping: bool
    fields: dict[str, JSON] = field(default_factory=dict)
    key: str | None = None
    index: int = 0


class Flow(NamedTuple):
    """The open brackets, outermost first, and what the cursor is about to write in the last."""

    frames: list[Frame]
    slot: CursorSlot
    token: Token


class _Piece(NamedTuple):
    text: str
    start: int
    end: int


def read_flow(text: str, start: int, cursor: int, line_start: int) -> Flow | None:
    """Read from the bracket at `start` to the cursor, all of them offsets, and what is left of it
    beyond; None if the bracket is closed before. Columns of the token count from `line_start`."""
    frames: list[Frame] = []
    found: Flow | None = None
    pending: _Piece | None = None
    for piece in _split_pieces(text, start, cursor):
        if found is None and piece.start >= cursor:
            found = _stand_at_cursor(frames, pending, text, cursor, line_start)
            if found is None:
                return None
        if found is None and piece.end >= cursor and piece.text[0] not in "[]{},:#":
            found = _stand_at_cursor(frames, piece, text, cursor, line_start)
        pending = _take_piece(frames, piece, pending)
        if not frames:
            return found
    return found or _stand_at_cursor(frames, pending, text, cursor, line_start)


def _split_pieces(text: str, start: int, cursor: int) -> Iterator[_Piece]:
    for match in _TOKEN.finditer(text, start, min(len(text), cursor + _MOST_BEHIND)):
        plain = match.group().rstrip() or match.group()
        yield _Piece(plain, match.start(), match.start() + len(plain))


def _take_piece(frames: list[Frame], piece: _Piece, pending: _Piece | None) -> _Piece | None:
    """Take one piece; what of it waits to become a key or a value."""
    mark = piece.text
    if mark in ("[", "{"):
        if frames:
            _keep_value(frames[-1], {} if mark == "{" else [])
        frames.append(Frame(mark == "{"))
    elif mark in ("]", "}"):
        _keep_pending(frames[-1], pending)
        frames.pop()
    elif mark == ",":
        _keep_pending(frames[-1], pending)
        frames[-1].key = None
        frames[-1].index += 1
    elif mark == ":":
        if pending is not None and frames[-1].is_mapping:
            frames[-1].key = str(read_scalar(pending.text))
    elif mark[0] == "#":
        return pending
    else:
        return piece
    return None


def _keep_pending(frame: Frame, pending: _Piece | None) -> None:
    if pending is not None:
        _keep_value(frame, read_scalar(pending.text))


def _keep_value(frame: Frame, value: JSON) -> None:
    if frame.is_mapping and frame.key is not None:
        frame.fields.setdefault(frame.key, value)


def _stand_at_cursor(
    frames: list[Frame], piece: _Piece | None, text: str, cursor: int, line_start: int
) -> Flow | None:
    """How things are at the cursor. The frames go on to be filled with what is behind it."""
    if not frames:
        return None
    frame = frames[-1]
    inside = piece is not None and piece.start <= cursor <= piece.end
    token = _token_of(piece, text, line_start) if piece is not None and inside else None
    token = token or Token("", cursor - line_start, cursor - line_start)
    slot: CursorSlot = "item" if not frame.is_mapping else "key" if frame.key is None else "value"
    copies = [Frame(each.is_mapping, each.fields, each.key, each.index) for each in frames]
    return Flow(copies, slot, token)


def _token_of(piece: _Piece, text: str, line_start: int) -> Token | None:
    if "\n" in piece.text:
        return None
    quote = piece.text[0] if piece.text[0] in "\"'" else ""
    rest = text[piece.end : piece.end + 2].lstrip(" ")
    start, end = piece.start - line_start, piece.end - line_start
    return Token(piece.text, start, end, quote, rest[:1] == ":")
