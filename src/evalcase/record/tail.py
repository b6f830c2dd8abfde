"""A journal that grows in, what has come since some byte of it out: for who watches a run."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

from evalcase.errors import RecordError
from evalcase.model.case import Case
from evalcase.model.codec import decode_object
from evalcase.model.outcome import Outcome
from evalcase.model.result import Result
from evalcase.model.totals import decide_case_verdict
from evalcase.record.cases import CASE_START, read_case
from evalcase.record.lines import open_lines, read_line_at
from evalcase.text.journal_row import MAX_LINE, decode_row, fault_in

_RESULT = b'{"type":"result",'
_MOST_ROWS = 500


class Grown(NamedTuple):
    """A case at a target, as it stands now."""

    case: Case | None
    outcome: Outcome
    results: tuple[Result, ...]


class Tail(NamedTuple):
    offset: int
    """Where the next look begins."""
    grown: tuple[Grown, ...]


class GrowingJournal:
    """Reads each line once, and remembers where the results of each case are."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._size = 0
        self._begins: list[int] = []
        self._names: list[tuple[str, str, str]] = []
        """Of each result, where it begins and of which case at which target it is."""
        self._places: dict[tuple[str, str, str], list[int]] = {}
        self._cases: dict[tuple[str, str], int] = {}

    def reach(self) -> int:
        """How far whole lines go."""
        self._catch_up()
        return self._size

    def read_since(self, offset: int) -> Tail:
        """The cases of which results begin there or later, at most some hundred at once."""
        self._catch_up()
        first = bisect_left(self._begins, offset)
        last = min(len(self._begins), first + _MOST_ROWS)
        names = dict.fromkeys(self._names[first:last])
        reached = self._begins[last] if last < len(self._begins) else max(offset, self._size)
        return Tail(reached, tuple(self._read(name) for name in names))

    def _catch_up(self) -> None:
        with open_lines(self._path) as file:
            file.seek(self._size)
            # What is not whole is being written; what is damaged is told where the run is read.
            while (line := file.readline(MAX_LINE + 1)) and fault_in(line) is None:
                self._note(line)
                self._size += len(line)

    def _note(self, line: bytes) -> None:
        if not line.startswith((CASE_START, _RESULT)):
            return
        try:
            row = decode_row(line)
        except ValueError as error:
            raise RecordError(f"{self._path} is damaged: {error}") from error
        suite, case = str(row.get("suite")), str(row.get("case"))
        if line.startswith(CASE_START):
            self._cases[suite, case] = self._size
            return
        name = suite, case, str(row.get("target"))
        self._begins.append(self._size)
        self._names.append(name)
        self._places.setdefault(name, []).append(self._size)

    def _read(self, name: tuple[str, str, str]) -> Grown:
        results: dict[int, Result] = {}
        with open_lines(self._path) as file:
            for at in self._places[name]:
                result = self._decode(read_line_at(self._path, file, at))
                results[result.key.repeat] = result
            at_case = self._cases.get(name[:2])
            row = None if at_case is None else read_line_at(self._path, file, at_case)
        case = None if row is None else self._read_case(row)
        trials = tuple(results[repeat] for repeat in sorted(results))
        return Grown(case, _decide_outcome(trials), trials)

    def _read_case(self, row: dict[str, Any]) -> Case:
        try:
            return read_case(row)
        except ValueError as error:
            raise RecordError(f"{self._path} is damaged: {error}") from error

    def _decode(self, row: dict[str, Any]) -> Result:
        row.pop("type", None)
        try:
            return decode_object(Result, row)
        except (TypeError, ValueError) as error:
            raise RecordError(f"{self._path} is damaged: {error}") from error


def _decide_outcome(trials: tuple[Result, ...]) -> Outcome:
    last = trials[-1]
    verdicts = [trial.verdict for trial in trials]
    repeats = max(last.repeats, len(trials))
    verdict = decide_case_verdict(verdicts, last.pass_rate) if len(trials) >= repeats else None
    return Outcome(verdict, verdicts.count("passed"), len(trials), repeats, last.pass_rate)
