"""JSONL, line by line: each line is a document, and none is kept once the next one is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

from evalcase.model.json_value import JSON
from evalcase.model.problem import Problem, Span
from evalcase.read.document import Document
from evalcase.read.fault import FatalFaultError, Fault
from evalcase.read.json import JsonReader
from evalcase.read.source import BOM, undecodable

MAX_LINE_BYTES = 1 << 28


class Line(NamedTuple):
    """A line that could be read: its number, its text, its value and the faults in it."""

    number: int
    text: str
    value: JSON
    faults: Sequence[Fault]

    def document(self, path: str) -> Document:
        return Document(path, self.text, "json", self.value, self.faults, True, self.number)


def read_lines(file: IO[bytes], path: str) -> Iterator[Line | Problem]:
    """The lines of a file in order; a problem in place of each that can't be read."""
    read = JsonReader().read
    number = 0
    while data := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if number == 1 and data[:3] == BOM:
            data = data[3:]
        if data.isspace() or not data:
            continue
        text = ""
        try:
            text = data.decode().rstrip("\r\n")
            yield Line(number, text, *read(text))
        except UnicodeDecodeError:
            yield undecodable(data, path, number)
        except FatalFaultError as error:
            yield from Document(path, text, "json", None, [error.fault], False, number).problems
        if len(data) > MAX_LINE_BYTES:
            message = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"
            yield Problem("too-large", message, path, Span(number, 1, number, 1))
            return
