"""One line of a journal: a JSON object whose last member is a checksum of the bytes before it.

`{"type":"result",…,"sum":"0123456789abcdef"}`
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from evalcase.util.json import DEEPEST_ROW, parse_object

JOURNAL = "journal.jsonl"
MAX_LINE = 64 * 1024 * 1024
_SUM = b',"sum":"'
_END = b'"}\n'
_TAIL = len(_SUM) + 16 + len(_END)
_ESCAPES = re.compile(r"\\(?:u(d[89a-f][0-9a-f]{2})|.)", re.DOTALL)


def seal_line(body: bytes) -> bytes:
    """The line of a JSON object. Raise ValueError if it is too long."""
    start = body[:-1]
    line = start + _SUM + _checksum(start) + _END
    if len(line) > MAX_LINE:
        raise ValueError(f"a row of {len(line):,} bytes is more than a journal holds")
    return line


def _checksum(start: bytes) -> bytes:
    return sha256(start).hexdigest()[:16].encode()


def is_whole(line: bytes) -> bool:
    """Whether a line ends in the checksum of what comes before."""
    return line[-_TAIL:] == _SUM + _checksum(line[:-_TAIL]) + _END


def fault_in(line: bytes) -> str | None:
    """What is wrong with a line, in words that follow "this line"; None if it is whole."""
    if is_whole(line):
        return None
    if not line.endswith(b"\n"):
        return "is longer than a journal's may be" if len(line) > MAX_LINE else "is cut short"
    tail = line[-_TAIL:]
    if not (tail.startswith(_SUM) and tail.endswith(_END)):
        return "has no checksum"
    return "does not match its checksum"


def body_of(line: bytes) -> bytes:
    """The JSON object of a whole line, without the checksum."""
    return line[:-_TAIL] + b"}"


def parse_body(body: bytes) -> dict[str, Any]:
    """The JSON object as a dict. Raise ValueError if it is none. Lone surrogates, which are
    written as escapes, stay apart: JSON would join two of them to one character."""
    text = body.decode()
    if "\\ud" in text:
        text = _ESCAPES.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[0], text)
    return parse_object(text, DEEPEST_ROW)
