"""JSONL, line by line: each line is a document, and none is kept once the next one is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import chain
from typing import IO, TypeAlias

from evalcase.model.finding import NO_DOUBTS, Doubts
from evalcase.model.json_value import JSON
from evalcase.model.problem import Excerpt, Problem, Span
from evalcase.read.document import Document
from evalcase.read.fault import FatalFaultError, Fault
from evalcase.read.json import JsonReader, read_plain_case
from evalcase.read.source import BOM, UTF_16_MARKS, tell_undecodable
from evalcase.system.files import read_bytes

MAX_LINE_BYTES = 1 << 28
_LONG = 10_000
"""From so many bytes on, a line is not looked at first for being plain."""
_SPACE = ord(" ")
_BLOCK_BYTES = 1 << 18


Line: TypeAlias = tuple[int, str, JSON, Sequence[Fault], Doubts]
"""A line that could be read: its number, its text, its value, the faults in it, and doubts.

A plain tuple, because there is one for each of a million cases. Its text may have its end.
"""


def document_of(line: Line, path: str) -> Document:
    number, text, value, faults, _ = line
    return Document(path, text.rstrip("\r\n"), "jsonl", value, faults, True, number)


def read_lines(file: IO[bytes], path: str) -> Iterator[Line | Problem]:
    """The lines of a file in order; a problem in place of each that can't be read."""
    read = JsonReader(one_line=True).read_line
    number = blank = 0
    for data in chain.from_iterable(_split_lines(file)):
        number += 1
        text = ""
        try:
            if len(data) < _LONG:
                text = data.decode()
                plain = read_plain_case(text) if "[" not in text else None
                if plain is not None:
                    yield number, text, plain, (), NO_DOUBTS
                    continue
            if data[0] <= _SPACE and not data.strip(b" \t\r\n"):
                blank += 1
                continue
            if len(data) > MAX_LINE_BYTES + 1:
                message = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"
                yield Problem("too-large", message, path, Span(number, 1, number, 1))
                return
            text = text or data.decode()
            value, faults, doubts = read(text)
            yield number, text, value, faults, doubts
        except UnicodeDecodeError:
            yield tell_undecodable(data[:-1], path, number)
            if number == 1 and data[:2] in UTF_16_MARKS:
                return
        except FatalFaultError as error:
            is_first = number == blank + 1
            if is_first and (problem := _whole_json(file, data, path, number)) is not None:
                yield problem
                return
            faults, text = [error.fault], text.rstrip("\r\n")
            yield from Document(path, text, "jsonl", None, faults, False, number).problems


def number_lines(file: IO[bytes]) -> Iterator[int]:
    """The numbers of the lines that hold something, as `read_lines` counts them."""
    for number, data in enumerate(chain.from_iterable(_split_lines(file)), 1):
        if data[0] > _SPACE or data.strip(b" \t\r\n"):
            yield number


def _whole_json(file: IO[bytes], first: bytes, path: str, number: int) -> Problem | None:
    """What is wrong with a file whose first line is the beginning of JSON over several lines."""
    if first.strip()[:1] not in (b"[", b"{") or first.strip()[-1:] not in (b"[", b"{", b","):
        return None
    position = file.tell()
    file.seek(0)
    data = read_bytes(file, MAX_LINE_BYTES)
    file.seek(position)
    try:
        JsonReader().read(data.removeprefix(BOM).decode())
    except (FatalFaultError, UnicodeDecodeError):
        if first.strip() not in (b"[", b"{", b"[{"):
            return None
    span = Span(number, 1, number, len(first.decode().rstrip()) + 1)
    message = "this is JSON over several lines, and each line of a .jsonl file is one case"
    hint = "give the file a name that ends in .json, or write each case on a line of its own"
    return Problem("syntax", message, path, span, hint, excerpt=Excerpt(first.decode().rstrip()))


def _split_lines(file: IO[bytes]) -> Iterator[list[bytes]]:
    """The lines of a file, each with a line feed at its end, in blocks. The first has no byte order
    mark.

    Only a line feed ends a line. A line that is longer than allowed is cut, and is the last.
    """
    pieces = [read_bytes(file, _BLOCK_BYTES).removeprefix(BOM)]
    length = 0
    while block := read_bytes(file, _BLOCK_BYTES):
        if b"\n" in pieces[-1]:
            lines = BytesIO(b"".join(pieces)).readlines()
            last = b"" if lines[-1].endswith(b"\n") else lines.pop()
            yield lines
            pieces = [last]
            length = len(last)
        pieces.append(block)
        length += len(block)
        if length > MAX_LINE_BYTES and b"\n" not in block:
            break
    yield BytesIO(b"".join([*pieces, b"\n"])).readlines()
