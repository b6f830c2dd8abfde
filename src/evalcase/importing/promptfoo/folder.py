"""The files that a configuration of promptfoo refers to. None is read that lies outside of its
folder, and none that is code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps

from evalcase.importing.source import (
    SHAPES,
    FileShape,
    ForeignFile,
    UnusableError,
    parse_source,
    read_referred,
)
from evalcase.types.value import JSON

FILE = "file://"
_CODE = frozenset({
    ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".sh", ".bash", ".pl", ".go",
})  # fmt: skip
_NO_TEXT = frozenset({
    ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".svg", ".mp4", ".webm", ".ogg", ".mov",
    ".avi", ".wmv", ".mkv", ".m4v", ".pdf", ".xlsx", ".xls", ".wav", ".mp3",
})  # fmt: skip
_MOST_FILES = 100_000
_MOST_READS = 10_000


class Folder:
    """The folder of a configuration; each file in it is read once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._texts: dict[str, str] = {}
        self._parsed: dict[str, ForeignFile] = {}
        self._open: list[str] = []
        self._reads = 0

    def find(self, name: str) -> list[str]:
        """The files that a name stands for: itself, or all that it fits if it has `*`."""
        name = name.removeprefix(FILE)
        if "*" not in name:
            return [name]
        name = os.path.normpath(name)
        if os.path.isabs(name) or name.startswith(".."):
            raise ValueError("it lies outside the folder of the file")
        fits = re.compile(_translate_glob(name)).fullmatch
        within = sorted(each for each in self._walk(name) if fits(each))
        if not within:
            raise ValueError(f"no file fits {name}")
        return within

    def _walk(self, pattern: str) -> Iterator[str]:
        """The files below the folder that a pattern starts with; links to folders stay closed."""
        start = os.path.join(self.path, os.path.dirname(pattern.partition("*")[0]))
        seen = 0
        for folder, _, names in os.walk(start):
            seen += 1 + len(names)
            if seen > _MOST_FILES:
                raise ValueError(f"there are over {_MOST_FILES:,} files to look through")
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.path)

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """While what a file refers to is read. Raise ValueError if it refers to itself, or if
        there is no end to it."""
        self._reads += 1
        if name in self._open:
            raise ValueError("it refers to itself")
        if self._reads > _MOST_READS:
            raise ValueError(f"files are referred to over {_MOST_READS:,} times")
        self._open.append(name)
        try:
            yield
        finally:
            self._open.remove(name)

    def read(self, name: str) -> str:
        """The text of a file. Raise ValueError with the reason why there is none."""
        name = name.removeprefix(FILE)
        if name not in self._texts:
            ending = _ending_of_name(name)
            if ending in _CODE or _ending_of_name(name.rpartition(":")[0]) in _CODE:
                raise ValueError("it is code")
            if ending in _NO_TEXT:
                raise ValueError("it isn't text")
            _, data = read_referred(name, self.path)
            self._texts[name] = data.decode()
        return self._texts[name]

    def parse(self, name: str) -> ForeignFile:
        """A file of YAML, JSON, JSONL or CSV."""
        name = name.removeprefix(FILE)
        if name not in self._parsed:
            shape = _shape_of_name(name)
            text = self.read(name)
            shown = os.path.relpath(os.path.normpath(os.path.join(self.path, name)))
            try:
                self._parsed[name] = parse_source(text.encode(), shown, shape)
            except UnusableError as error:
                raise ValueError(str(error.problems[0])) from None
        return self._parsed[name]

    def value(self, name: str) -> JSON:
        """The value of a file that is one document."""
        file = self.parse(name)
        return [each.value for each in file.documents] if file.is_table else file.root.value

    def variable(self, name: str) -> str:
        """What a variable is whose value is a file: its text, or YAML as JSON."""
        if _ending_of_name(name) in (".yaml", ".yml"):
            return dumps(self.value(name), ensure_ascii=False, separators=(",", ":"))
        return self.read(name).strip()


def _translate_glob(pattern: str) -> str:
    """A pattern for names of files as one for texts."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    found = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(parts[each] if each in parts else re.escape(each) for each in found)


def _ending_of_name(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _shape_of_name(name: str) -> FileShape:
    shape = SHAPES.get(_ending_of_name(name))
    if shape is None:
        raise ValueError(f"`{_ending_of_name(name) or name}` is not an ending that can be read")
    return shape


def is_code(name: str) -> bool:
    """Whether a name is that of a program, perhaps with the function in it that is called."""
    bare, colon, _ = name.removeprefix(FILE).rpartition(":")
    return _ending_of_name(name) in _CODE or (bool(colon) and _ending_of_name(bare) in _CODE)
