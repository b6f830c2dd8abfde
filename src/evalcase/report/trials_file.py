"""A file of trials, as `report --format jsonl` writes it, read back as results: a run to compare
with that needs no folder. It may come from anyone: everything in it is data, and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from io import BufferedReader
from typing import Annotated, Any

from msgspec import Meta

from evalcase.errors import ConfigError
from evalcase.types.answer import Answer, Earlier, Failure, Usage
from evalcase.types.case import Case, canonical_case
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.result import VERDICTS, Outcome, Result, Verdict
from evalcase.types.target import TrialKey
from evalcase.types.value import Value, decode_object
from evalcase.util.files import open_file
from evalcase.util.json import DEEPEST_ROW, MAX_LINE, parse_object
from evalcase.util.table import Table, mark_of

_UNDECIDED = -1
_MOST_TARGETS = 10_000


class _Row(Value, frozen=True):
    """What is read of a line. Keys that a newer evalcase adds are left alone."""

    suite: str
    case: str
    target: str
    repeat: Annotated[int, Meta(ge=1)]
    verdict: Verdict
    run: str
    input: tuple[Message, ...] | None = None
    expected_output: tuple[Message, ...] | None = None
    answer: tuple[Message, ...] | None = None
    grades: tuple[Grade, ...] = ()
    failure: Failure | None = None
    usage: Usage | None = None
    cost_usd: Annotated[float, Meta(ge=0)] | None = None
    duration_s: Annotated[float, Meta(ge=0)] = 0.0
    cached: bool = False
    earlier: Earlier | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None
    run_status: str = "incomplete"
    run_trials: Annotated[int, Meta(ge=0)] | None = None
    run_folder: str = "."
    failed_of: str | None = None
    mixed: bool = False
    repeats: Annotated[int, Meta(ge=1)] = 1
    case_verdict: Verdict | None = None
    pass_rate_needed: Annotated[float, Meta(ge=0, le=1)] = 1.0
    question_hash: str = ""
    grading_hash: str = ""

    @property
    def key(self) -> TrialKey:
        return TrialKey(self.suite, self.case, self.target, self.repeat)

    def result(self) -> Result:
        answer = None
        if self.answer is not None:
            answer = Answer(
                self.answer, self.usage, self.cost_usd, cached=self.cached, earlier=self.earlier
            )
        return Result(
            self.key, self.question_hash, self.verdict, answer, self.grades, self.failure,
            duration_s=self.duration_s, grading_hash=self.grading_hash, repeats=self.repeats,
            pass_rate=self.pass_rate_needed,
        )  # fmt: skip

    def as_case(self) -> Case:
        data: dict[str, Any] = {
            "id": self.case, "input": list(self.input or ()), "tags": list(self.tags),
            "metadata": self.metadata or {},
        }  # fmt: skip
        if self.expected_output is not None:
            data["expected_output"] = list(self.expected_output)
        return canonical_case(data)


_KNOWN = frozenset(_Row.__struct_fields__)


class TrialsFile:
    """The trials of a file, gone through once, then asked. It holds none of them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.folder = "."
        """Where their run was begun, as seen from its project's folder."""
        self.origin: str | None = None
        """The run whose cases that did not pass they are of."""
        self._planned: dict[str, int | None] = {}
        """The trials of each run, as far as it says."""
        self._broken: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._targets: dict[str, bool] = {}
        """Whether each was changed while its run went on."""
        self._trials = Table("Q")
        """Where the row of each begins."""
        self._cases = Table("Q")
        """The same for the first row of each case."""
        self._outcomes = Table("bIIId")
        """Verdict, trials that passed, trials, repeats and pass rate."""
        self._file: BufferedReader | None = None
        for number, (at, row) in enumerate(self._rows(), 1):
            self._index(row, at, number)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that they are of."""
        return tuple(self._planned)

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(sorted(self._targets))

    @property
    def mixed(self) -> tuple[str, ...]:
        """The targets with answers from before and after a change."""
        return tuple(sorted(name for name, mixed in self._targets.items() if mixed))

    @property
    def missing(self) -> str:
        """Why this is not all of a run; empty if it is."""
        for run, planned in self._planned.items():
            if run in self._broken:
                return f"run {run} was not completed when the file was written"
            if planned is not None and self._counts[run] < planned:
                return f"it has {self._counts[run]:,} of the {planned:,} trials of run {run}"
        return ""

    def results(self) -> Iterator[Result]:
        """Every result, in the order of the file."""
        for _, row in self._rows():
            yield row.result()

    def outcome(self, result: Result) -> Outcome:
        """What became of the case of a result, all of its trials together."""
        found = self._outcomes.find(mark_of(result.key[:3]))
        assert found is not None
        verdict = None if found[0] == _UNDECIDED else VERDICTS[found[0]]
        return Outcome(verdict, *found[1:5])

    def find_case(self, suite: str, case: str) -> Case | None:
        """A case, as far as the file has it: what was asked and expected, tags and metadata."""
        row = self._row_at(self._cases.find(mark_of((suite, case))))
        return row.as_case() if row is not None and row.key[:2] == (suite, case) else None

    def find_result(self, key: TrialKey) -> Result | None:
        """The result of one trial; None if there is none."""
        row = self._row_at(self._trials.find(mark_of(key)))
        return row.result() if row is not None and row.key == key else None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _rows(self) -> Iterator[tuple[int, _Row]]:
        """Every row, with the byte at which it begins."""
        with _open_trials(self.path) as file:
            number = at = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if line.strip():
                    yield at, _read_row(line, f"{self.path}:{number}")
                at += len(line)

    def _row_at(self, found: tuple[int, ...] | None) -> _Row | None:
        if found is None:
            return None
        if self._file is None:
            self._file = _open_trials(self.path)
        self._file.seek(found[0])
        return _read_row(self._file.readline(MAX_LINE + 1), self.path)

    def _index(self, row: _Row, at: int, number: int) -> None:
        mark, case, group = mark_of(row.key), mark_of(row.key[:2]), mark_of(row.key[:3])
        if self._trials.find(mark) is not None:
            name = f"{row.case} at {row.target}, repeat {row.repeat}"
            raise ConfigError(
                f"{self.path}: the {number:,}. trial, {name}, was there before: each is counted "
                "once; a file has the trials of one run"
            )
        self._trials.add(mark, at)
        if self._cases.find(case) is None:
            self._cases.add(case, at)
        self._planned[row.run] = row.run_trials
        self._counts[row.run] += 1
        if row.run_status != "completed":
            self._broken.add(row.run)
        self.folder, self.origin = row.run_folder, row.failed_of
        self._targets[row.target] = self._targets.get(row.target, False) or row.mixed
        if len(self._targets) > _MOST_TARGETS:
            raise ConfigError(f"{self.path} has more than {_MOST_TARGETS:,} targets")
        _, passed, trials, *_ = self._outcomes.find(group) or (0, 0, 0)
        verdict = _UNDECIDED if row.case_verdict is None else VERDICTS.index(row.case_verdict)
        self._outcomes.add(
            group, verdict, passed + (row.verdict == "passed"), trials + 1,
            max(row.repeats, trials + 1), row.pass_rate_needed,
        )  # fmt: skip


def _open_trials(path: str) -> BufferedReader:
    try:
        return open_file(path)
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}") from error


def _read_row(line: bytes, where: str) -> _Row:
    if len(line) > MAX_LINE:
        raise ConfigError(f"{where}: this line is too long for a trial")
    try:
        data = parse_object(line, DEEPEST_ROW)
        return decode_object(_Row, {name: value for name, value in data.items() if name in _KNOWN})
    except ValueError as error:
        raise ConfigError(
            f"{where}: this is not a trial as `evalcase report --format jsonl` writes them: {error}"
        ) from error
