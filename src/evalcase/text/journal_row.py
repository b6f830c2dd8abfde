"""One row of a journal as one line of bytes, and back.

A line is a JSON object whose last member is the checksum of all the bytes before that member:
`{"type":"result",…,"sum":"0123456789abcdef"}`. So it can be verified without being parsed, and
any tool for JSON lines can read it.
"""

from __future__ import annotations

import re
from binascii import hexlify
from hashlib import sha256
from typing import Any

from evalcase.text.quick_json import compact_encoder
from evalcase.text.strict_json import DEEPEST_ROW, may_be_deep, parse_row

JOURNAL = "journal.jsonl"
"""The file of a run that has all rows."""
MAX_LINE = 64 * 1024 * 1024
MAX_ROW_DEPTH = DEEPEST_ROW
"""Both hold for writing too: nothing gets into a journal that could not be read from it."""

SUM = b',"sum":"'
END = b'"}\n'
TAIL = len(SUM) + 16 + len(END)
_HALF = slice(8)
"""So much of a digest is kept, as 16 hex digits."""

_ESCAPES = re.compile(r"\\(?:u(d[89a-f][0-9a-f]{2})|.)", re.DOTALL)


_to_json = compact_encoder(ascii_only=False)


def encode_row(row: dict[str, Any]) -> bytes:
    """The line of a row, line feed included; ValueError if the row can't be kept as JSON."""
    return encode_line(dump_row(row))


def dump_row(row: dict[str, Any]) -> str:
    """The JSON of a row, without its checksum."""
    if "type" not in row or "sum" in row:
        raise ValueError("a row has a `type`, and leaves `sum` to the journal")
    return dump_value(row)


def encode_line(text: str) -> bytes:
    """The line of the JSON of a row."""
    return encode_members(text[:-1])


def encode_members(text: str) -> bytes:
    """The same, of all but the brace at the end of that JSON."""
    # Where UTF-8 has no form for a character it is a lone surrogate, always inside a string;
    # there its backslash escape is JSON.
    body = text.encode("utf-8", "backslashreplace")
    line = b"".join((body, SUM, hexlify(sha256(body).digest()[_HALF]), END))
    if len(line) > MAX_LINE:
        raise ValueError(f"a row of {len(line):,} bytes is more than a journal keeps")
    return line


def dump_value(value: dict[str, Any]) -> str:
    """Compact JSON of a value that `parse_row` will accept again."""
    try:
        text = _to_json(value)
        if may_be_deep(text, MAX_ROW_DEPTH):
            parse_row(text)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from error
    return text


def fault_in(line: bytes) -> str | None:
    """What is wrong with a line, in words that follow "this line"; None if it is whole."""
    # Most are: that takes one comparison, and the reason is looked for where it fails.
    if line[-TAIL:] == b',"sum":"%b"}\n' % sha256(line[:-TAIL]).hexdigest()[:16].encode():
        return None
    if not line.endswith(b"\n"):
        return "is longer than a journal's may be" if len(line) > MAX_LINE else "is cut short"
    if line[-TAIL : len(SUM) - TAIL] != SUM or line[-3:] != END:
        return "has no checksum"
    return "does not match its checksum"


def decode_row(line: bytes) -> dict[str, Any]:
    """The row of a line that has been verified; ValueError if it is no row all the same."""
    return decode_body(line[:-TAIL])


def decode_body(body: bytes) -> dict[str, Any]:
    """The same for all that stands before the checksum."""
    text = body.decode() + "}"
    if "\\ud" in text:
        # Two lone surrogates side by side are not the character that JSON would make of them;
        # that one is never written as an escape.
        text = _ESCAPES.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[0], text)
    return parse_row(text)
