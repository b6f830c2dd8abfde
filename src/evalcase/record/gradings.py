"""Where a grading of a run comes from: its row in the journal, read and put into words."""

from __future__ import annotations

from typing import Any

from evalcase.model.quick_tuple import NamedTuple
from evalcase.record.lines import JournalLines
from evalcase.text.journal_row import decode_row

GRADING = b'{"type":"grading",'


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

    def __str__(self) -> str:
        return f"{self.number} of {self.of}, {self._origin()}"

    def _origin(self) -> str:
        if self.graders:
            return "by --grader " + ", ".join(self.graders)
        if self.number == 1:
            return "by the suites as they were at first"
        if self.recorded:
            return "by the cases in the record"
        return "by the suites as they were " + ("when it was resumed" if self.resumed else "then")


def read_grading(path: str, number: int, of: int) -> GradedBy:
    """The grading of a number, as the journal tells of it. What it tells may come from anyone."""
    found: dict[str, Any] = {}
    for line in JournalLines(path) if number > 1 else ():
        if line.startswith(GRADING):
            row = decode_row(line)
            found = row if row.get("number") == number else found
    graders = found.get("graders")
    listed = graders if isinstance(graders, list) else []
    return GradedBy(
        number, of, tuple(map(str, listed)), found.get("recorded") is True,
        found.get("origin") == "resume",
    )  # fmt: skip
