"""Files of other tools to documents that know their positions, and the folder they refer to.

YAML and JSON become one document, JSONL and CSV one for each line or row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from json import dumps
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from evalcase.format.document import Document, parse_document, read_lines
from evalcase.format.source import (
    FILE_ENDINGS,
    STDIN,
    UnreadableError,
    folder_of,
    outside_link,
    read_source,
)
from evalcase.format.tables import stream_table
from evalcase.types.problem import KeyPath, Problem
from evalcase.types.value import JSON
from evalcase.util.files import OutsideError, read_file

FileShape: TypeAlias = Literal["yaml", "json", "jsonl", "csv"]
SHAPES: dict[str, FileShape] = {**FILE_ENDINGS, ".csv": "csv", ".tsv": "csv"}
FILE = "file://"
REMOTE = (
    "http://", "https://", "exec:", "langfuse://", "portkey://", "helicone://", "mlflow:",
    "huggingface://", "sharepoint://", "az://", "s3://",
)  # fmt: skip
_LFS = "version https://git-lfs.github.com/spec/"
_MAX_BYTES = 100 << 20
_MAX_FILES = 100_000
_MAX_READS = 10_000
_CODE = frozenset({
    ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".sh", ".bash", ".pl", ".go",
})  # fmt: skip


class UnusableError(Exception):
    """A file can't be read, or holds nothing that could be imported."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


class Item(NamedTuple):
    value: JSON
    document: Document
    path: KeyPath = ()

    def at(self, *steps: str | int) -> Item:
        """The value at a path from here; None if there is none."""
        value = self.value
        for step in steps:
            if isinstance(value, dict) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                value = None
        return Item(value, self.document, (*self.path, *steps))

    def first(self, *names: str) -> Item:
        return next((self.at(name) for name in names if self.at(name).value is not None),
                    self.at(names[0]))  # fmt: skip

    def items(self) -> list[Item]:
        """The items of a list; none for anything else."""
        count = len(self.value) if isinstance(self.value, list) else 0
        return [self.at(number) for number in range(count)]

    def several(self) -> list[Item]:
        """The items of a list; the value itself if it is none, and nothing for null."""
        if isinstance(self.value, list):
            return self.items()
        return [] if self.value is None else [self]

    def fields(self) -> list[tuple[str, Item]]:
        """The fields of a mapping; none for anything else."""
        return [(name, self.at(name)) for name in self.mapping()]

    def mapping(self) -> dict[str, JSON]:
        return self.value if isinstance(self.value, dict) else {}

    def hidden(self) -> Item:
        """The place around it, whose line shows nothing of a value that may be a key."""
        return self._replace(value=None, path=self.path[:-2])

    def without_value(self) -> Item:
        """The same place, for a comment that should not repeat the value."""
        return self._replace(value=None)


class ForeignFile(NamedTuple):
    path: str
    shape: FileShape
    documents: list[Document]
    header: Document | None = None
    """The names of the columns of a table."""

    @property
    def folder(self) -> str:
        return os.path.abspath(folder_of(self.path))

    @property
    def root(self) -> Item:
        return Item(self.documents[0].value, self.documents[0])

    @property
    def is_table(self) -> bool:
        """Whether it has a document for each line or row."""
        return self.shape in ("jsonl", "csv")

    def rows(self) -> list[Item]:
        return [Item(each.value, each) for each in self.documents]

    def leave_out(self, *names: str) -> None:
        """Hide fields of the whole file that are read already."""
        whole = self.root.mapping()
        if not self.is_table and whole:
            rest: JSON = {name: item for name, item in whole.items() if name not in names}
            self.documents[0].value = rest


def read_foreign(path: str, shape: FileShape | None = None) -> ForeignFile:
    """Read a file, or standard input as `-`. Raise UnusableError with all problems."""
    if path != STDIN and (outside := outside_link(path)) is not None:
        raise UnusableError([outside])
    ending = _ending_of(path)
    if shape is None and path != STDIN and ending not in SHAPES:
        message = f"`{ending or os.path.basename(path)}` is not an ending that can be imported"
        hint = f"evalcase reads {', '.join(SHAPES)}"
        raise UnusableError([Problem("unknown-file-type", message, path, hint=hint)])
    try:
        # YAML includes JSON: standard input may be either.
        return parse_source(read_source(path), path, shape or SHAPES.get(ending, "yaml"))
    except UnreadableError as error:
        raise UnusableError([error.problem]) from None
    except OSError as error:
        message = f"the file can't be read: {error.strerror or error}"
        raise UnusableError([Problem("unreadable-file", message, path)]) from None


def parse_source(text: str, path: str, shape: FileShape) -> ForeignFile:
    """Raise UnusableError with all problems of the text."""
    if text.startswith(_LFS):
        message, hint = "it is only a pointer of Git LFS", "`git lfs pull` fetches the file itself"
        raise UnusableError([Problem("unreadable-file", message, path, hint=hint)])
    header, read = None, list[Document | Problem]()
    if shape == "csv":
        header, *rows = stream_table(text, path)
        read += rows
    elif shape == "jsonl":
        read = list(read_lines(BytesIO(text.encode()), path))
    else:
        read = [parse_document(text, shape, path)]
    documents = [each for each in read if isinstance(each, Document)]
    problems = [each for each in read if isinstance(each, Problem)]
    problems += [fault for each in (header, *documents) if each is not None
                 for fault in each.problems]  # fmt: skip
    if any(each.severity == "error" for each in problems):
        raise UnusableError(problems)
    return ForeignFile(path, shape, documents, header)


class Folder(Struct):
    """The folder of a configuration. No file outside of it is read, and no code."""

    path: str
    _texts: dict[str, str] = {}
    _parsed: dict[str, ForeignFile] = {}
    _open: list[str] = []
    _reads: int = 0

    def find(self, name: str) -> list[str]:
        """The file of a name, or all files that match a name with `*`. Raise ValueError."""
        if name.startswith(REMOTE):
            raise ValueError("it is kept, or made, somewhere else")
        if is_code(name):
            raise ValueError("it is code")
        name = name.removeprefix(FILE)
        if "*" not in name:
            return [name]
        name = os.path.normpath(name)
        if os.path.isabs(name) or name.startswith(".."):
            raise ValueError("it lies outside the folder of the file")
        matches = (each for each in Path(self.path).glob(name) if each.is_file())
        found = list(islice(matches, _MAX_FILES))
        if not found:
            raise ValueError(f"no file fits {name}")
        return sorted(os.path.relpath(each, self.path) for each in found)

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """While files that a file names are read. Raise ValueError if it names itself."""
        self._reads += 1
        if name in self._open:
            raise ValueError("it refers to itself")
        if self._reads > _MAX_READS:
            raise ValueError(f"files are referred to over {_MAX_READS:,} times")
        self._open.append(name)
        try:
            yield
        finally:
            self._open.remove(name)

    def read(self, name: str) -> str:
        """The text of a file. Raise ValueError with the reason why there is none."""
        name = name.removeprefix(FILE)
        if name not in self._texts:
            if is_code(name):
                raise ValueError("it is code")
            try:
                path = os.path.normpath(os.path.join(self.path, name))
                text = read_file(path, _MAX_BYTES, inside=self.path).decode()
            except OutsideError:
                raise ValueError("it lies outside the folder of the file") from None
            except OSError as error:
                raise ValueError((error.strerror or str(error)).lower()) from None
            except UnicodeDecodeError:
                raise ValueError("it isn't UTF-8 text") from None
            self._texts[name] = text.removeprefix("\ufeff")
        return self._texts[name]

    def parse(self, name: str) -> ForeignFile:
        """A file of YAML, JSON, JSONL or CSV. Raise ValueError."""
        name = name.removeprefix(FILE)
        if name not in self._parsed:
            shape = SHAPES.get(_ending_of(name))
            if shape is None:
                raise ValueError(f"`{_ending_of(name) or name}` is not an ending that can be read")
            text = self.read(name)
            shown = os.path.relpath(os.path.normpath(os.path.join(self.path, name)))
            try:
                self._parsed[name] = parse_source(text, shown, shape)
            except UnusableError as error:
                raise ValueError(str(error.problems[0])) from None
        return self._parsed[name]

    def value(self, name: str) -> JSON:
        file = self.parse(name)
        return [each.value for each in file.documents] if file.is_table else file.root.value

    def variable(self, name: str) -> str:
        """The value of a variable that names a file: its text, or YAML as JSON."""
        if _ending_of(name) in (".yaml", ".yml"):
            return dumps(self.value(name), ensure_ascii=False, separators=(",", ":"))
        return self.read(name).strip()


def is_code(name: str) -> bool:
    """Whether a name is that of a program, perhaps with `:function` after it."""
    bare, colon, _ = name.removeprefix(FILE).rpartition(":")
    return _ending_of(name) in _CODE or (bool(colon) and _ending_of(bare) in _CODE)


def _ending_of(name: str) -> str:
    return os.path.splitext(name)[1].lower()
