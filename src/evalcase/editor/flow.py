"""The inside of brackets, in YAML or JSON, up to a cursor: read as far as it goes, whatever is
missing behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct, field

from evalcase.editor.cursor import CursorSlot, Token
from evalcase.editor.scalar import read_scalar
from evalcase.types.value import JSON

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
"""So many characters behind the cursor are looked at for what stands beside it."""


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
