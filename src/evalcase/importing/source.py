"""A file of another tool to documents that know their places: YAML and JSON to one, JSONL and CSV
to one for each line or row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from typing import Literal, NamedTuple, TypeAlias

from evalcase.format.document import Document, parse_document, read_lines
from evalcase.format.source import (
    FILE_ENDINGS,
    STDIN,
    UnreadableError,
    folder_of,
    outside_link,
    read_source,
)
from evalcase.types.problem import KeyPath, Problem
from evalcase.types.value import JSON
from evalcase.util.files import OutsideError, read_file

FileShape: TypeAlias = Literal["yaml", "json", "jsonl", "csv"]
SHAPES: dict[str, FileShape] = {**FILE_ENDINGS, ".csv": "csv", ".tsv": "csv"}
_MOST_BYTES = 100 << 20
"""How large a file may be that another one refers to."""


class UnusableError(Exception):
    """A file can't be read, or there is nothing in it that could be imported."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


class Item(NamedTuple):
    """A value of a file, and where it stands in it."""

    value: JSON
    document: Document
    path: KeyPath = ()

    def at(self, *steps: str | int) -> Item:
        """What a path from here leads to; nothing, if it leads nowhere."""
        value = self.value
        for step in steps:
            if isinstance(value, dict) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                value = None
        return Item(value, self.document, (*self.path, *steps))

    def items(self) -> Iterator[Item]:
        """What is in a list."""
        for number in range(len(self.value)) if isinstance(self.value, list) else ():
            yield self.at(number)

    def fields(self) -> Iterator[tuple[str, Item]]:
        """What is in a mapping, by name."""
        for name in self.value if isinstance(self.value, dict) else ():
            yield name, self.at(name)


class ForeignFile(NamedTuple):
    """A file that was read."""

    path: str
    shape: FileShape
    documents: list[Document]
    header: Document | None = None
    """The names of the columns, where there are any."""

    @property
    def folder(self) -> str:
        """Where it lies."""
        return os.path.abspath(folder_of(self.path))

    @property
    def root(self) -> Item:
        """The value of a file that is one document."""
        return Item(self.documents[0].value, self.documents[0])

    @property
    def is_table(self) -> bool:
        """Whether it has a document for each line or row."""
        return self.shape in ("jsonl", "csv")


def read_file_of_another(path: str, shape: FileShape | None = None) -> ForeignFile:
    """Read a file, or standard input as `-`. Raise UnusableError with all that is wrong."""
    if path != STDIN and (outside := outside_link(path)) is not None:
        raise UnusableError([outside])
    try:
        return parse_source(read_source(path), path, shape or shape_of(path))
    except UnreadableError as error:
        raise UnusableError([error.problem]) from None
    except OSError as error:
        message = f"the file can't be read: {error.strerror or error}"
        raise UnusableError([Problem("unreadable-file", message, path)]) from None


def read_referred(name: str, folder: str) -> tuple[str, bytes]:
    """A file that another one refers to, which may not lie outside of a folder. Raise ValueError
    with the reason why it can't be used."""
    path = os.path.normpath(os.path.join(folder, name))
    try:
        data = read_file(path, _MOST_BYTES, inside=folder)
        data.decode()
    except OutsideError:
        raise ValueError("it lies outside the folder of the file") from None
    except OSError as error:
        raise ValueError((error.strerror or str(error)).lower()) from None
    except UnicodeDecodeError:
        raise ValueError("it isn't UTF-8 text") from None
    return path, data.removeprefix(b"\xef\xbb\xbf")


def shape_of(path: str) -> FileShape:
    """How a file is read, by its ending. YAML has JSON in it, so that is tried for others."""
    ending = os.path.splitext(path)[1].lower()
    if path != STDIN and ending not in SHAPES:
        known = ", ".join(SHAPES)
        message = f"`{ending or os.path.basename(path)}` is not an ending that can be imported"
        hint = f"evalcase reads {known}"
        raise UnusableError([Problem("unknown-file-type", message, path, hint=hint)])
    return SHAPES.get(ending, "yaml")


def parse_source(data: bytes, path: str, shape: FileShape) -> ForeignFile:
    """Bytes of UTF-8 to documents. Raise UnusableError with all that is wrong with the text."""
    if shape == "csv":
        from evalcase.format.tables import read_table

        header, rows = read_table(data.decode(), path)
        _refuse_problems([problem for row in (header, *rows) for problem in row.problems])
        return ForeignFile(path, shape, list(rows), header)
    if shape == "jsonl":
        lines = list(read_lines(BytesIO(data), path))
        _refuse_problems([line for line in lines if isinstance(line, Problem)])
        documents = [line for line in lines if isinstance(line, Document)]
        _refuse_problems(
            [problem for each in documents if each.faults for problem in each.problems]
        )
        return ForeignFile(path, shape, documents)
    document = parse_document(data, shape, path)
    _refuse_problems(document.problems)
    return ForeignFile(path, shape, [document])


def _refuse_problems(problems: list[Problem]) -> None:
    if problems:
        raise UnusableError(problems)
