"""A file of trials, as `report --format jsonl` writes it, as a record: a run to compare with that
needs no folder. It may come from anyone: everything in it is data, and checked."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from msgspec import Meta

from evalcase.errors import ConfigError
from evalcase.store.folder import Run, RunAbout
from evalcase.store.rows import CaseRow, End, decode_row, encode_struct, write_row
from evalcase.types.answer import Answer, Earlier, Failure, Usage
from evalcase.types.case import Case, canonical_case
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.result import Result, Verdict
from evalcase.types.target import TrialKey
from evalcase.types.value import Value, decode_object, replace
from evalcase.util.files import open_file
from evalcase.util.json import DEEPEST_ROW, MAX_LINE, parse_object, seal_line
from evalcase.util.table import Table, mark_of


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

    def result(self, number: int) -> Result:
        answer = None
        if self.answer is not None:
            answer = Answer(
                self.answer, self.usage, self.cost_usd, cached=self.cached, earlier=self.earlier
            )
        return Result(
            self.key, self.question_hash, self.verdict, answer, self.grades, self.failure,
            number=number, duration_s=self.duration_s, grading_hash=self.grading_hash,
            repeats=self.repeats, pass_rate=self.pass_rate_needed,
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


class TrialsFile(Value, frozen=True):
    run: Run
    """A record of the trials."""
    runs: tuple[str, ...]
    """The runs that they are of."""
    folder: str
    """Where their run was begun, as seen from its project's folder."""
    origin: str | None
    """The run whose cases that did not pass they are of."""
    mixed: tuple[str, ...]
    """The targets with answers from before and after a change."""
    missing: str
    """Why this is not all of a run; empty if it is."""


def read_trials(path: str, folder: str) -> TrialsFile:
    """Write the trials of a file to a record in an empty folder. Raise ConfigError, with the line,
    for what is no trial, and OSError."""
    planned: dict[str, int | None] = {}
    counts: Counter[str] = Counter()
    broken, targets, mixed = dict[str, None](), dict[str, None](), set[str]()
    cases, trials = Table("I"), Table("B")
    begun, origin = ".", None
    run = Run("", folder, "", RunAbout({}))
    with open_file(path) as file, open(run.journal, "wb") as journal:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            if not line.strip():
                continue
            row = _read_row(line, where := f"{path}:{number}")
            if mark_of(row.key) in trials:
                name = f"{row.case} at {row.target}, repeat {row.repeat}"
                said = f"{name}, was there before: a file has the trials of one run"
                raise ConfigError(f"{where}: {said}")
            trials.add(mark_of(row.key), 1)
            known = cases.find(mark_of(row.key[:2]))
            place = len(cases) if known is None else int(known[0])
            try:
                if known is None:
                    cases.add(mark_of(row.key[:2]), place)
                    if row.input is not None:
                        journal.write(_write_row(CaseRow.of(row.suite, row.as_case())))
                journal.write(_write_row(row.result(place)))
            except ValueError as error:
                raise ConfigError(f"{where}: this is not a trial: {error}") from error
            counts[row.run] += 1
            planned[row.run] = row.run_trials
            targets[row.target] = None
            begun, origin = row.run_folder, row.failed_of
            if row.run_status != "completed":
                broken[row.run] = None
            if row.mixed:
                mixed.add(row.target)
        journal.write(write_row(End("completed")))
    missing = [f"run {name} was not completed when the file was written" for name in broken]
    missing += [
        f"it has {counts[name]:,} of the {count:,} trials of run {name}"
        for name, count in planned.items()
        if count is not None and counts[name] < count
    ]
    return TrialsFile(
        replace(run, about=RunAbout({}, targets=tuple(targets))), tuple(planned), begun, origin,
        tuple(sorted(mixed)), missing[0] if missing else "",
    )  # fmt: skip


def _write_row(row: CaseRow | Result) -> bytes:
    """Raise ValueError for what a record could not have, such as an endless time."""
    body = encode_struct(row)
    decode_row(body)
    return seal_line(body)


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
