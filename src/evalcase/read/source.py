"""Files and standard input to text: only regular files, only UTF-8, only a sane size."""

from __future__ import annotations

import os
import sys
from io import BytesIO
from typing import IO

from evalcase.model.problem import Excerpt, Problem, Span
from evalcase.read.lines import span_at, split_lines
from evalcase.system.files import IrregularError, open_file, read_bytes

STDIN = "-"
TEXT = "<text>"
"""The path of what was given as text."""
MAX_SOURCE_BYTES = 1 << 30
BOM = b"\xef\xbb\xbf"
_UTF_32_MARKS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class UnreadableError(Exception):
    """A file or a text can't be read at all."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


def read_source(path: str) -> bytes:
    """The bytes of a file, known to be UTF-8, without their byte order mark."""
    with open_bytes(path) as file:
        size = os.fstat(file.fileno()).st_size if path != STDIN else 0
        data = read_bytes(file, MAX_SOURCE_BYTES + 1) if size <= MAX_SOURCE_BYTES else b""
    if max(size, len(data)) > MAX_SOURCE_BYTES:
        raise UnreadableError(_too_large(path))
    data = data.removeprefix(BOM)
    try:
        data.decode()
    except UnicodeDecodeError:
        raise UnreadableError(tell_undecodable(data, path)) from None
    return data


def open_bytes(path: str) -> IO[bytes]:
    """Open a regular file, or standard input."""
    if path == STDIN:
        return _standard_input()
    try:
        return open_file(path)
    except IrregularError:
        hint = "a pipe can be read as standard input: evalcase check -"
        problem = Problem("unreadable-file", "this is not a regular file", path, hint=hint)
        raise UnreadableError(problem) from None
    except OSError as error:
        raise UnreadableError(tell_unreadable(path, error)) from None


def folder_of(path: str) -> str:
    """The folder from which a suite's files are looked for: for what has no place of its own, the
    one from which relative paths are meant."""
    return os.curdir if path in (STDIN, TEXT) else os.path.dirname(path) or os.curdir


def _standard_input() -> IO[bytes]:
    """All of standard input, so that it can be read twice like a file."""
    if sys.stdin is None:
        raise UnreadableError(Problem("unreadable-file", "standard input is closed", STDIN))
    data = sys.stdin.buffer.read(MAX_SOURCE_BYTES + 1)
    if len(data) > MAX_SOURCE_BYTES:
        raise UnreadableError(_too_large(STDIN))
    return BytesIO(data)


def _too_large(path: str) -> Problem:
    message = f"this is larger than {MAX_SOURCE_BYTES >> 20:,} MiB"
    hint = "a .jsonl file is read line by line and may be of any size"
    return Problem("too-large", message, path, hint=hint)


def encode_text(text: str, path: str) -> bytes:
    """A text given by a program as UTF-8, without its byte order mark."""
    text = text.removeprefix("\ufeff")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        message = f"U+{ord(text[error.start]):04X} is half of a surrogate pair, not a character"
        problem = Problem("bad-encoding", message, path, span_at(text, error.start))
        raise UnreadableError(problem) from None


def tell_unreadable(path: str, error: OSError) -> Problem:
    if isinstance(error, FileNotFoundError):
        from evalcase.read.missing_files import missing_path

        return missing_path(path)
    return Problem("unreadable-file", f"the file can't be read: {error.strerror or error}", path)


def tell_undecodable(data: bytes, path: str, first_line: int = 1) -> Problem:
    """The problem with bytes that are not UTF-8."""
    is_wide = data[:4] in _UTF_32_MARKS
    if first_line == 1 and (is_wide or data[:2] in UTF_16_MARKS):
        name = "UTF-32" if is_wide else "UTF-16"
        message = f"the file is {name}, and evalcase reads UTF-8"
        return Problem("bad-encoding", message, path, Span(1, 1, 1, 1), "save it as UTF-8")
    start = _first_bad_byte(data)
    before = data[:start].decode()
    span = span_at(before, len(before))
    window = split_lines(before)[-1][-800:]
    after = split_lines(data[start : start + 100].decode("utf-8", "replace"))[0]
    return Problem(
        "bad-encoding",
        f"the byte 0x{data[start]:02x} is not UTF-8",
        path,
        span._replace(line=span.line + first_line - 1, end_line=span.line + first_line - 1),
        "save the file as UTF-8",
        excerpt=Excerpt(window + after, span.column - len(window)),
    )


def _first_bad_byte(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0
