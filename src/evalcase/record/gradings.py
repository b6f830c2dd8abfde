"""Where a grading of a run comes from: its row in the journal, read and put into words."""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

from evalcase.model.codec import decode_object, encode_after
from evalcase.model.value import Value
from evalcase.record.lines import JournalLines, damaged_error, open_lines
from evalcase.text.journal_row import decode_row

_BEGIN = b'{"type":"grading",'
_NAMED = b'"grading"'
_BLOCK = 1 << 16
_MOST = 1 << 31


class GradedBy(NamedTuple):
    """One of several gradings of the same answers."""

    number: int
    of: int
    """How many there are."""
    graders: tuple[str, ...] = ()
    """Those that were named in place of what cases say, as they were written."""
    recorded: bool = False
    """Whether the cases were those of the record, and not of the suites as they were then."""
    resumed: bool = False
    complete: bool = True
    """Whether it was brought to its end; else it was broken off, or goes on."""
    graded: int = 0
    """How many answers it has graded: of one that was broken off, the others stand as they were
    graded before."""
    answers: int = 0

    @property
    def is_newest(self) -> bool:
        return self.number == self.of

    @property
    def so_far(self) -> str:
        """How far it got, if it was broken off; else empty."""
        if self.complete:
            return ""
        got = f"{self.graded:,} of {self.answers:,} answers graded by grading {self.number}"
        return f"{got}, the others as before it"

    def __str__(self) -> str:
        return f"{self.number} of {self.of}, {self._origin()}"

    def _origin(self) -> str:
        if self.graders:
            return "by --grader " + ", ".join(self.graders)
        if self.number == 1:
            return "by the suites as they were when the run began"
        if self.recorded:
            return "by the cases in the record"
        return f"by the suites as they were when it was {'resumed' if self.resumed else 'graded'}"


class GradingBegun(Value, frozen=True):
    """The row of a grading: from here on, answers that are there are graded again."""

    number: int
    """Which grading of them it is; the first has no row."""
    at: str = ""
    origin: Literal["resume", "grade"] | None = None
    """The command that graded."""
    suites: dict[str, str] | None = None
    """The hashes of the files that said what is graded by."""
    graders: tuple[str, ...] = ()
    recorded: bool = False
    cases_of: int | None = None
    """Of which grading the cases in the record are that it is by; None where it is by others."""
    others: bool = False
    """Whether the suites are others than those of the run."""

    def row(self) -> dict[str, Any]:
        return encode_after({"type": "grading"}, self)


def decode_grading(row: dict[str, Any]) -> GradingBegun:
    """What a row says; ValueError if it is none of a grading."""
    begun = decode_object(GradingBegun, {name: row[name] for name in row if name != "type"})
    if not 1 <= begun.number < _MOST:
        raise ValueError("`number` is not a count")
    return begun


def find_grading(lines: JournalLines) -> GradingBegun | None:
    """What the last of some lines says, if it is the row of a grading. Raise RecordError where it
    only begins like one."""
    if not lines.last.startswith(_BEGIN):
        return None
    try:
        return decode_grading(decode_row(lines.last))
    except ValueError as error:
        raise damaged_error(lines.path, lines.count, f"is not a grading: {error}") from error


def read_gradings(path: str) -> list[GradingBegun]:
    """What all gradings of a journal say but the first, which has no row."""
    lines = JournalLines(path)
    found = (find_grading(lines) for _ in lines)
    return [each for each in found if each is not None]


def may_have_gradings(path: str) -> bool:
    """Whether a journal may have more gradings than one: a look at its bytes, which is soon had."""
    if not os.path.exists(path):
        return False
    with open_lines(path) as file:
        last = b""
        while block := file.read(_BLOCK):
            if _NAMED in last + block:
                return True
            last = block[-len(_NAMED) :]
    return False


def graded_suites(path: str, suites: frozenset[str]) -> dict[str, str] | None:
    """The hashes of those suites when they were last what answers were graded by again; None if
    they never were."""
    found = None
    for each in read_gradings(path):
        if each.suites is not None and suites == each.suites.keys():
            found = each.suites
    return found
