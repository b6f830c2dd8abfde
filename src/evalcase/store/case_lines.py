"""The lines of cases in their suites, in a file beside the journal: a report names them when the
suites are gone. No verdict rests on it: a missing or damaged file counts as none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from evalcase.store.folder import Run
from evalcase.util.files import open_file
from evalcase.util.rows import MAX_LINE
from evalcase.util.table import Table, mark_of

_NAME = "lines.jsonl"


class _Head(Struct):
    """The first row."""

    suites: dict[str, str]
    """The hash of each suite."""


LinedCase = tuple[str, str, Annotated[int, Meta(gt=0, lt=1 << 32)]]
"""The path of a suite, the id of a case in it, and its line."""

_head = msgspec.json.Decoder(_Head)
_line = msgspec.json.Decoder(LinedCase)


def write_case_lines(run: Run, hashes: Mapping[str, str], lines: Iterable[LinedCase]) -> None:
    """Replace the file. Raise OSError if it can't be written."""
    # Not by `write_atomically`, which follows links: a folder of runs may be a stranger's.
    path = os.path.join(run.path, _NAME)
    draft = f"{path}.draft"
    with suppress(FileNotFoundError):
        os.unlink(draft)
    try:
        with open(draft, "xb") as file:
            file.write(_encode(_Head(dict(hashes))))
            file.writelines(map(_encode, lines))
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _encode(row: object) -> bytes:
    try:
        return msgspec.json.encode(row) + b"\n"
    except UnicodeEncodeError as error:  # a file name that is no UTF-8
        raise OSError(str(error)) from None


class StoredLines:
    """The lines of the cases of a run."""

    def __init__(self, run: Run) -> None:
        self.hashes: dict[str, str] = {}
        """The hashes of the suites when those were their lines."""
        self._lines = Table("I")
        with suppress(OSError, ValueError):
            for each in _read_case_lines(run, self.hashes):
                self._lines.add(mark_of(each[:2]), each[2])

    def find(self, suite: str, case: str) -> int | None:
        found = self._lines.find(mark_of((suite, case)))
        return None if found is None else found[0]


def _read_case_lines(run: Run, hashes: dict[str, str]) -> Iterator[LinedCase]:
    """The lines one by one; before the first, `hashes` gets the hashes of the suites. Raise OSError
    or ValueError where there are no more that make sense."""
    with open_file(os.path.join(run.path, _NAME), links=False) as file:
        hashes.update(_head.decode(file.readline(MAX_LINE)).suites)
        while line := file.readline(MAX_LINE):
            row = _line.decode(line)
            if row[0] not in hashes:
                raise ValueError("it is of another suite")
            yield row


def read_line_hashes(run: Run) -> dict[str, str] | None:
    """The hashes of the suites; None where there are no lines."""
    hashes: dict[str, str] = {}
    try:
        next(_read_case_lines(run, hashes), None)
    except (OSError, ValueError):
        return hashes or None
    return hashes


def merge_case_lines(run: Run, parts: Sequence[Run]) -> None:
    """Store the lines of the shards of a run."""
    hashes: dict[str, str] = {}
    for part in reversed(parts):
        hashes |= read_line_hashes(part) or {}

    def read_parts() -> Iterator[LinedCase]:
        for part in parts:
            known: dict[str, str] = {}
            with suppress(OSError, ValueError):
                for each in _read_case_lines(part, known):
                    if known[each[0]] == hashes[each[0]]:
                        yield each

    if hashes:
        write_case_lines(run, hashes, read_parts())
