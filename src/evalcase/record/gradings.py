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


def read_grading(path: str, number: int | None) -> GradedBy | None:
    """One of several gradings, the newest unless another is asked for, as the journal tells of it;
    None where there is one only. What it tells may come from anyone."""
    rows = [decode_row(line) for line in JournalLines(path) if line.startswith(GRADING)]
    of = max([1, *[row["number"] for row in rows if type(row.get("number")) is int]])
    if of == 1:
        return None
    number = number or of
    found: dict[str, Any] = next((row for row in rows if row.get("number") == number), {})
    graders = found.get("graders")
    listed = graders if isinstance(graders, list) else []
    return GradedBy(
        number, of, tuple(map(str, listed)), found.get("recorded") is True,
        found.get("origin") == "resume",
    )  # fmt: skip


def graded_suites(path: str, suites: frozenset[str]) -> dict[str, Any] | None:
    """The hashes of those suites when they were last what answers were graded by again; None if
    they never were."""
    found = None
    for line in JournalLines(path):
        if line.startswith(GRADING):
            hashes = decode_row(line).get("suites")
            found = hashes if isinstance(hashes, dict) and suites == hashes.keys() else found
    return found
