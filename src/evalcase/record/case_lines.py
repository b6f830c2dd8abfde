"""The lines at which the cases of a run began in its suites, in a file beside the journal: so a
report names them when the suites are gone.

Its first row has the hash of each suite, the others the line of a case. It says nothing that a
verdict rests on: one that is missing or damaged counts as none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from evalcase.record.folder import Run
from evalcase.system.files import open_file
from evalcase.system.table import Table, mark_of
from evalcase.text.journal_row import MAX_LINE
from evalcase.text.quick_json import compact_encoder
from evalcase.text.strict_json import parse_json

LinedCase = tuple[str, str, int]
"""The path of a suite, the id of a case of it, and its line."""

_NAME = "lines.jsonl"
_DRAFT = ".draft"
_HIGHEST = 1 << 32
_to_json = compact_encoder()


def write_case_lines(run: Run, hashes: Mapping[str, str], lines: Iterable[LinedCase]) -> None:
    """Put the file in place, whole, or leave what is there; OSError says why it can't be written.
    It can be made again, and so nobody waits until it is on disk."""
    # Not by `write_atomically`, which has all of it in memory, and goes where a link leads: a
    # folder of runs may be anybody's.
    path = os.path.join(run.path, _NAME)
    draft = path + _DRAFT
    with suppress(FileNotFoundError):
        os.unlink(draft)
    try:
        with open(draft, "x", encoding="utf-8") as file:  # it is ASCII, whose codec isn't loaded
            file.write(_to_json({"suites": dict(hashes)}) + "\n")
            file.writelines(_to_json(each) + "\n" for each in lines)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


class KeptLines:
    """The lines of the cases of a run, read at once."""

    def __init__(self, run: Run) -> None:
        self.hashes: dict[str, str] = {}
        """What the suites held when those were their lines."""
        self._lines = Table("I")
        self._run = run

    def read(self) -> KeptLines:
        """Read them, as far as there are any."""
        with suppress(OSError, ValueError):
            for each in read_case_lines(self._run, self.hashes):
                self._lines.add(mark_of(each[:2]), each[2])
        return self

    def find(self, suite: str, case: str) -> int | None:
        found = self._lines.find(mark_of((suite, case)))
        return None if found is None else found[0]


def read_case_lines(run: Run, hashes: dict[str, str]) -> Iterator[LinedCase]:
    """The lines of cases one by one, and before the first the hashes of their suites, into
    `hashes`. Raise OSError or ValueError where there are none, or no more that make sense."""
    with open_file(os.path.join(run.path, _NAME), links=False) as file:
        hashes.update(_read_head(file.readline(MAX_LINE)))
        while line := file.readline(MAX_LINE):
            yield _read_line(line, hashes)


def merge_case_lines(run: Run, parts: Sequence[Run]) -> None:
    """Keep for a run the lines that those have kept which it is made of."""
    hashes: dict[str, str] = {}
    for part in reversed(parts):
        hashes |= read_line_hashes(part) or {}
    if hashes:
        write_case_lines(run, hashes, _read_several(parts, hashes))


def _read_several(parts: Sequence[Run], hashes: Mapping[str, str]) -> Iterator[LinedCase]:
    for part in parts:
        known: dict[str, str] = {}
        with suppress(OSError, ValueError):
            for each in read_case_lines(part, known):
                if known[each[0]] == hashes[each[0]]:
                    yield each


def read_line_hashes(run: Run) -> dict[str, str] | None:
    """The hashes alone; None where there are no lines."""
    try:
        with open_file(os.path.join(run.path, _NAME), links=False) as file:
            return _read_head(file.readline(MAX_LINE))
    except (OSError, ValueError):
        return None


def _read_head(line: bytes) -> dict[str, str]:
    head = parse_json(line)
    suites = head.get("suites") if isinstance(head, dict) else None
    if not isinstance(suites, dict):
        raise ValueError("the first row has no suites")
    return {path: digest for path, digest in suites.items() if isinstance(digest, str)}


def _read_line(row: bytes, hashes: Mapping[str, str]) -> LinedCase:
    match parse_json(row):
        case [str() as suite, str() as id, int() as line] if suite in hashes:
            if type(line) is int and 0 < line < _HIGHEST:
                return suite, id, line
    raise ValueError("a row is not a line of a case")
