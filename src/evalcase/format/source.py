"""Paths on the command line to suite files, and files and standard input to text: only regular
files, only UTF-8, only a sane size."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import IO

from evalcase.format.positions import Format, Lines
from evalcase.types.problem import Problem, find_nearest, hint_at
from evalcase.util.files import IrregularError, OversizeError, open_file, read_file
from evalcase.util.project import leads_inside, leaves_by_link

STDIN = "-"
TEXT = "<text>"
"""The path of a suite that was given as text."""
FILE_ENDINGS: dict[str, Format] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".jsonl": "jsonl",
}
FOUND_ENDINGS = (".eval.yaml", ".eval.yml", ".eval.json", ".eval.jsonl")
MAX_SOURCE_BYTES = 1 << 30
MAX_LINE_BYTES = 1 << 28
BOM = b"\xef\xbb\xbf"
_YAML_ENDINGS = (".yaml", ".yml")
_HOW_NAMED = (
    f"eval files end in {', '.join(FOUND_ENDINGS)}; name any other file outright, "
    "write a first one with `evalcase init`, or convert one with `evalcase import`"
)
_NEVER_ENTERED = frozenset({"node_modules", "__pycache__"})


class UnreadableError(Exception):
    """A file or a text can't be read at all."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


# Reading


def read_source(
    path: str, most_bytes: int = MAX_SOURCE_BYTES, inside: str | None = None, shown: str = ""
) -> str:
    """The text of a file without its byte order mark. With `inside`, it has to lie in that folder.
    Problems have the path that is `shown`."""
    shown = shown or path
    try:
        return read_raw(path, most_bytes, inside, shown).removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        raise UnreadableError(tell_undecodable(error, shown)) from None


def read_raw(
    path: str, most_bytes: int = MAX_SOURCE_BYTES, inside: str | None = None, shown: str = ""
) -> bytes:
    """The bytes of a file, or of standard input, as they are."""
    try:
        if path == STDIN:
            return open_bytes(STDIN).read()
        return read_file(path, most_bytes, inside)
    except OversizeError:
        raise _too_large(shown or path, most_bytes) from None
    except OSError as error:
        raise UnreadableError(tell_unreadable(shown or path, error)) from None


def open_bytes(path: str) -> IO[bytes]:
    """Open a regular file, or all of standard input, which can then be read twice like a file."""
    if path != STDIN:
        try:
            return open_file(path)
        except OSError as error:
            raise UnreadableError(tell_unreadable(path, error)) from None
    if sys.stdin is None:
        raise UnreadableError(Problem("unreadable-file", "standard input is closed", STDIN))
    data = sys.stdin.buffer.read(MAX_SOURCE_BYTES + 1)
    if len(data) > MAX_SOURCE_BYTES:
        raise _too_large(STDIN, MAX_SOURCE_BYTES)
    return BytesIO(data)


def number_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of a JSONL file that are not blank, each with its number. Only a line feed ends a
    line. A line that is longer than allowed is cut, and is the last."""
    read_line = partial(file.readline, MAX_LINE_BYTES + 2)
    for number, line in enumerate(iter(read_line, b""), 1):
        data = line.removeprefix(BOM) if number == 1 else line
        if data.strip(b" \t\r\n") or len(data) > MAX_LINE_BYTES:
            yield number, data
        if len(data) > MAX_LINE_BYTES + 1:
            return


def check_text(text: str, path: str) -> str:
    """A text given by a program, without its byte order mark. Raise UnreadableError if it can't be
    written as UTF-8."""
    text = text.removeprefix("\ufeff")
    if found := re.search("[\ud800-\udfff]", text):
        message = f"U+{ord(found[0]):04X} is half of a surrogate pair, not a character"
        problem = Problem("bad-encoding", message, path, Lines(text).span(*found.span()))
        raise UnreadableError(problem)
    return text


def folder_of(path: str) -> str:
    """The folder that the relative paths in a suite start from."""
    return os.curdir if path in (STDIN, TEXT) else os.path.dirname(path) or os.curdir


# Problems


def tell_unreadable(path: str, error: OSError) -> Problem:
    if isinstance(error, FileNotFoundError):
        return missing_path(path)
    if isinstance(error, IrregularError):
        hint = "only regular files are read; `-` is standard input"
        return Problem("unreadable-file", "this is not a regular file", path, hint=hint)
    return Problem("unreadable-file", f"the file can't be read: {error.strerror or error}", path)


def missing_path(path: str) -> Problem:
    """The problem with a path that leads nowhere, with the nearest name in its folder."""
    folder, name = os.path.split(path)
    beside: list[str] = []
    with suppress(OSError):
        beside = sorted(os.listdir(folder or "."))
    near = find_nearest(name, beside, 0.75) if name else None
    hint = hint_at(near and os.path.join(folder, near))
    return Problem("unreadable-file", "there is no such file or folder", path, hint=hint)


def tell_undecodable(error: UnicodeDecodeError, path: str, first_line: int = 1) -> Problem:
    """The problem with bytes that are not UTF-8."""
    data, at = error.object, len(error.object[: error.start].decode())
    lines = Lines(data.decode(errors="replace"))
    span = lines.span(at, at + 1)
    message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
    return Problem(
        "bad-encoding", message, path, span.moved_by(first_line - 1), "save the file as UTF-8",
        excerpt=lines.excerpt(span),
    )  # fmt: skip


def _too_large(path: str, most_bytes: int) -> UnreadableError:
    message = f"this is larger than {most_bytes >> 20:,} MiB"
    hint = "a .jsonl file is read line by line and may be of any size"
    return UnreadableError(Problem("too-large", message, path, hint=hint))


# Search and names


def discover_files(paths: Iterable[str]) -> Iterator[str | Problem]:
    """The suite files that some paths stand for, in order, and a problem for each that has none."""
    seen: set[str] = set()
    for path in paths:
        # A link to no file, or a pipe, is a problem when it is opened.
        is_folder = path != STDIN and os.path.isdir(path)
        outside = outside_link(path) if is_folder or os.path.isfile(path) else None
        is_searched = is_folder and outside is None
        found = list(_search_folder(path)) if is_searched else [outside or path]
        if not found:
            message = "there are no eval files in this folder"
            yield Problem("no-suites", message, path, hint=_HOW_NAMED)
        for each in found:
            if isinstance(each, Problem):
                yield each
            elif (real := os.path.abspath(each)) not in seen:
                seen.add(real)
                yield each


def _search_folder(folder: str) -> Iterator[str | Problem]:
    unlisted: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=unlisted.append):
        folders[:] = sorted(name for name in folders if enters_folder(parent, name))
        for name in filter(is_found, sorted(names)):
            path = os.path.join(parent, name).removeprefix("./")
            yield outside_link(path, folder) or path
    for error in unlisted:
        message = f"the folder can't be searched: {error.strerror}"
        yield Problem("unreadable-file", message, str(error.filename))


def enters_folder(parent: str, name: str) -> bool:
    """Whether a folder is searched: it is neither hidden nor another program's own."""
    if name.startswith(".") or name in _NEVER_ENTERED:
        return False
    return not os.path.exists(os.path.join(parent, name, "pyvenv.cfg"))


def is_found(name: str) -> bool:
    """Whether a search takes a file of this name for an eval file."""
    return name.lower().endswith(FOUND_ENDINGS)


def outside_link(path: str, searched: str | None = None) -> Problem | None:
    """The problem with a path that leads out of the project by a link: the author of the link may
    want to see another file's content in the messages. In a folder that is searched, only files
    can be links, and they may lead anywhere in that folder."""
    if searched is not None and not os.path.islink(path):
        return None
    if not leaves_by_link(path) or (searched is not None and leads_inside(path, searched)):
        return None
    hint = "to read it anyway, name the file it leads to"
    message = "this link leads outside the project, so it is not followed"
    return Problem("unreadable-file", message, path, hint=hint)


def format_at(path: str, stdin_format: Format = "yaml") -> Format:
    """How the file at a path is to be read. Raise UnreadableError if there is none to read."""
    if path == STDIN:
        return stdin_format
    if os.path.isdir(path):
        message = "this is a folder, but one file is needed"
        raise UnreadableError(Problem("unreadable-file", message, path))
    format = format_of(path) if os.path.lexists(path) else missing_path(path)
    if isinstance(format, Problem):
        raise UnreadableError(format)
    return format


def format_of(path: str) -> Format | Problem:
    """How a file is to be read, by the ending of its name."""
    ending = os.path.splitext(path)[1].lower()
    if ending in FILE_ENDINGS:
        return FILE_ENDINGS[ending]
    what = f"that end in `{ending}`" if ending else "without an ending"
    hint = "eval files end in " + ", ".join(FILE_ENDINGS)
    if ending in (".csv", ".tsv"):
        hint = f"`evalcase import` turns a table into a suite; {hint}"
    return Problem("unknown-file-type", f"evalcase doesn't read files {what}", path, hint=hint)


def suite_name(path: str) -> str:
    """The name of a suite that doesn't name itself: its file name without the endings."""
    if path in (STDIN, TEXT):
        return "stdin" if path == STDIN else "text"
    name, ending = os.path.splitext(os.path.basename(path))
    stem = name if ending.lower() in FILE_ENDINGS else name + ending
    return stem[: -len(".eval")] if stem.lower().endswith(".eval") and len(stem) > 5 else stem


def is_sidecar(path: str) -> bool:
    """Whether a file holds the suite fields of a JSONL file beside it."""
    stem, is_one, ending = path.rpartition(".suite")
    ends = (".jsonl", ".eval.jsonl")
    return bool(is_one) and ending in _YAML_ENDINGS and any(os.path.exists(stem + e) for e in ends)


def find_sidecars(path: str) -> list[str]:
    """The files beside a JSONL file that hold its suite fields: there should be at most one."""
    stem = os.path.splitext(path)[0]
    stems = dict.fromkeys((stem, stem.removesuffix(".eval")))
    names = [f"{each}.suite{ending}" for each in stems for ending in _YAML_ENDINGS]
    return [name for name in names if os.path.lexists(name)]
