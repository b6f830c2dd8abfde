"""The two sides of a comparison: runs, targets or files of trials as a person names them, and their
cases paired by suite, id and target while they stream by.

Of base, a few bytes a case are held; its trials are looked up when their pair comes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, NamedTuple, get_args

from msgspec import Meta

from evalcase.config.config import Config
from evalcase.errors import ConfigError
from evalcase.report.evaluated import CaseTrials, fold_trials, pair_targets, read_evaluated
from evalcase.report.formats import find_suite_places
from evalcase.store.folder import Run, RunAbout, describe_name, describe_part, folder_of_run
from evalcase.store.rows import CaseRow, End, decode_row, encode_struct, write_row
from evalcase.store.runs import FoundRun, choose_base, find_run
from evalcase.store.stored import StoredRun
from evalcase.types.answer import Answer, Earlier, Failure, Usage
from evalcase.types.case import Case, canonical_case
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.problem import did_you_mean
from evalcase.types.result import MOST_REPEATS, Result, Verdict
from evalcase.types.target import TrialKey
from evalcase.types.value import Value, decode_object, replace
from evalcase.util.files import open_file
from evalcase.util.json import DEEPEST_ROW, MAX_LINE, parse_object, seal_line
from evalcase.util.table import Table
from evalcase.util.text import write_count

ChangeKind = Literal[
    "broken", "fixed", "changed", "added", "removed", "skipped", "same", "unfinished"
]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
NAMED_KINDS = CHANGE_KINDS[:6]
"""The kinds whose cases are named."""


class Side(Value, frozen=True):
    stored: StoredRun
    label: str
    """What it is called in a report."""
    source: tuple[str, int] = ("", 0)
    """Its real path, and which of its gradings it is."""
    runs: tuple[str, ...] = ()
    """The runs that a file is of; and the id of a run with a single grading, which a file of it
    has."""
    place_of: Callable[[str], str] = str
    """Where a suite lies in its project, by the path that it was named with."""
    missing: str = ""
    """Why it is not complete; empty if it is."""
    mixed: tuple[str, ...] = ()
    """The targets with answers from before and after a change."""
    origin: str = ""
    """The run whose cases that did not pass these are."""
    choice: str = ""
    """Why this run was chosen, if it was not named and is not simply the one before."""
    part: str = ""
    """Which of the cases it is of, where it is not of all: the others were not asked for."""
    run: Run | None = None
    """None for a file of trials."""

    @property
    def description(self) -> str:
        return "" if self.run is None else describe_name(self.run)

    def find_trial(self, key: TrialKey | None) -> Result | None:
        return None if key is None else self.stored.find_result(key)


class Sides(NamedTuple):
    base: Side
    head: Side
    targets: dict[str, str]
    """For each target of head that is compared, that of base."""
    chosen: bool = False
    """Whether a person has named them, so that others are not missing."""


def open_sides(
    names: Sequence[str], config: Config, stack: ExitStack, *, baseline: str | None = None,
    targets: tuple[str, str] | None = None, runs_dir: str | None = None,
) -> Sides:  # fmt: skip
    """Raise ConfigError if there are no two sides to compare."""
    folder = config.find_runs(runs_dir)
    open_side = partial(_open_side, config, folder, stack)
    if baseline is not None:
        if len(names) > 1:
            raise ConfigError("--baseline is the base: give at most one run besides it")
        base = open_side(baseline, is_file=True)
        return _pair_sides(base, open_side(names[0] if names else "latest"), targets)
    if len(names) == 1 or (not names and targets is not None):
        side = open_side(names[0] if names else "latest")
        return _pair_sides(side, side, targets)
    if names:
        return _pair_sides(open_side(names[0]), open_side(names[1]), targets)
    head, chosen = open_side("latest"), choose_base(folder)
    try:
        base = open_side("previous" if chosen is None else chosen[0])
    except ConfigError as error:
        if len(head.stored.targets) < 2:
            raise
        raise ConfigError(f"{error}; to compare its targets: evalcase compare latest") from None
    if chosen is not None and (count := chosen[1]):
        other = f"{write_count(count, 'run')} of other cases or targets in between"
        why = f"the newest run before head of the same cases; {other}"
        base = replace(base, choice=why)
    return _pair_sides(base, head, targets)


def _open_side(
    config: Config, folder: str, stack: ExitStack, name: str, *, is_file: bool = False
) -> Side:
    if not is_file and not name.endswith(".jsonl") and not os.path.isfile(name):
        return _open_run(find_run(name, folder), config.root, stack)
    try:
        return read_trials(name, config.root, stack)
    except OSError as error:
        raise ConfigError(f"{name} can't be read: {error.strerror or error}") from error


def _pair_sides(base: Side, head: Side, targets: tuple[str, str] | None) -> Sides:
    """Raise ConfigError if something would be compared with itself: nothing is ever worse then."""
    is_within, there = base is head, base.stored.targets
    if targets is not None:
        paired = {_require_target(targets[1], head): _require_target(targets[0], base)}
    elif is_within:
        if len(there) < 2:
            only = f"{head.label} has results for only one target"
            raise ConfigError(f"{only}: give a second run to compare it with")
        # In the order of the run; a file doesn't have that, and is sorted by name. The first is the
        # base of the others.
        known = head.run.about.targets if head.run is not None else ()
        named = [name for name in known if name in there]
        first, *others = dict.fromkeys([*named, *sorted(there)])
        paired = dict.fromkeys(others, first)
    else:
        paired = pair_targets(there, head.stored.targets)
        if not paired and there and head.stored.targets:
            raise ConfigError(
                f"no target has the same name in both: base has {_list_targets(base)}, head has "
                f"{_list_targets(head)}; --targets BASE HEAD names one of each"
            )
    is_one_file = (base.run is None) != (head.run is None)
    is_same = base.source == head.source or (is_one_file and base.runs == head.runs)
    if is_same and (twice := [name for name, other in paired.items() if name == other]):
        said = f"base and head are both {head.label}: there is nothing to compare"
        raise ConfigError(f"--targets names `{twice[0]}` twice" if is_within else said)
    return Sides(base, head, paired, targets is not None)


def _require_target(name: str, side: Side) -> str:
    if name not in side.stored.targets:
        hint = did_you_mean(name, side.stored.targets)
        there = f"it has {_list_targets(side) or 'none'}{f'; {hint}' if hint else ''}"
        raise ConfigError(f"{side.label} has no target `{name}`; {there}")
    return name


def _list_targets(side: Side) -> str:
    return ", ".join(f"`{name}`" for name in side.stored.targets)


def _open_run(found: FoundRun, root: str, stack: ExitStack) -> Side:
    stored = stack.enter_context(StoredRun(*found))
    run = stored.run
    # What a record says of itself is no name: it may come from anyone.
    id = os.path.basename(os.path.realpath(run.path))
    source = os.path.realpath(run.path), stored.grading or stored.gradings
    evaluated, missing = read_evaluated(stored), ""
    if not evaluated.complete:
        said = (evaluated.status, evaluated.notice, evaluated.graded_so_far)
        missing = ": ".join(filter(None, said))
        if without := evaluated.not_run + evaluated.totals.unfinished:
            missing += f"; {write_count(without, 'case')} without a verdict"
    return Side(
        stored, id if found.grading is None else f"{id}@{found.grading}", source,
        (run.id,) if stored.gradings == 1 else (),
        find_suite_places(root, folder_of_run(run)), missing, stored.mixed,
        origin=run.about.failed_of or "", part=describe_part(run), run=run,
    )  # fmt: skip


# A file of trials, as `report --format jsonl` writes it, becomes a record, and needs no folder
# of a run. It may come from anyone: everything in it is data, and checked.


class _Row(Value, frozen=True, forbid_unknown_fields=False):
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
        expected = self.expected_output
        return canonical_case({
            "id": self.case, "input": list(self.input or ()), "tags": list(self.tags),
            "metadata": self.metadata or {},
            **({} if expected is None else {"expected_output": list(expected)}),
        })  # fmt: skip


def read_trials(path: str, root: str, stack: ExitStack) -> Side:
    """Raise ConfigError, with the line, for what is no trial, and OSError."""
    planned: dict[str, int | None] = {}
    counts: Counter[str] = Counter()
    broken, targets, mixed = dict[str, None](), dict[str, None](), set[str]()
    cases, trials = Table(1), Table(1)
    begun, origin = ".", None
    folder = stack.enter_context(TemporaryDirectory(prefix="evalcase-"))
    run = Run("", folder, "", RunAbout({}))
    with open_file(path) as file, open(run.journal, "wb") as journal:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
            if not line.strip():
                continue
            row = _read_row(line, where := f"{path}:{number}")
            if hash(row.key) in trials:
                name = f"{row.case} at {row.target}, repeat {row.repeat}"
                said = f"{name}, was there before: a file has the trials of one run"
                raise ConfigError(f"{where}: {said}")
            trials.add(hash(row.key), 1)
            known = cases.find(hash(row.key[:2]))
            place = len(cases) if known is None else int(known[0])
            try:
                if known is None:
                    cases.add(hash(row.key[:2]), place)
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
    run = replace(run, about=RunAbout({}, targets=tuple(targets)))
    return Side(
        stack.enter_context(StoredRun(run)), path, (os.path.realpath(path), 0), tuple(planned),
        find_suite_places(root, begun), missing[0] if missing else "", tuple(sorted(mixed)),
        origin=origin or "", part=f"cases that did not pass in {origin}" if origin else "",
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
        return decode_object(_Row, parse_object(line, DEEPEST_ROW))
    except ValueError as error:
        raise ConfigError(
            f"{where}: this is not a trial as `evalcase report --format jsonl` writes them: {error}"
        ) from error


class PlacedName(NamedTuple):
    """A case at a target, all of its repeats together. The suite is where it lies in its project,
    so that it doesn't matter from where it was named."""

    suite: str
    case: str
    target: str


class CasePair(Value, frozen=True):
    """A case at a target of head, and at the target of base that it is compared with."""

    name: PlacedName
    """With the target of head."""
    kind: ChangeKind
    base: CaseTrials | None
    head: CaseTrials | None


class PairedCases:
    """First go through `read_base`, then through `pairs`."""

    def __init__(self, base: Side, head: Side, targets: Mapping[str, str]) -> None:
        """`targets` has, for each target of head that is compared, that of base."""
        self._base = base
        self._head = head
        self._targets = targets
        self.base_suites: dict[str, str] = {}
        """How base names each suite that is compared, by its place in the project."""
        self._known = Table(2)
        """For each case of base at a target of head: its last repeat, and whether head has it."""

    def read_base(self) -> Iterator[CaseTrials]:
        """Every case of base, also at targets that are not compared."""
        for case in _fold_side(self._base):
            last = min(case.trials[-1].key.repeat, MOST_REPEATS)
            for name in self._names_in_head(case):
                self.base_suites.setdefault(name.suite, case.suite)
                self._known.add(hash(name), last, 0)
            yield case

    def pairs(self) -> Iterator[CasePair]:
        """Every case of head, also at targets that are not compared; then those that only base
        has."""
        for head in _fold_side(self._head):
            name = PlacedName(self._head.place_of(head.suite), head.case, head.target)
            base = self._find_base(name)
            yield CasePair(name, tell_kind(base, head), base, head)
        if all(is_met for _, _, is_met in self._known):
            return
        for base in _fold_side(self._base):
            for name in self._names_in_head(base):
                found = self._known.find(hash(name))
                if found is not None and not found[1]:
                    yield CasePair(name, "removed", base, None)

    def _names_in_head(self, case: CaseTrials) -> Iterator[PlacedName]:
        place = self._base.place_of(case.suite)
        for head_target, base_target in self._targets.items():
            if base_target == case.target:
                yield PlacedName(place, case.case, head_target)

    def _find_base(self, name: PlacedName) -> CaseTrials | None:
        mark = hash(name)
        found = self._known.find(mark)
        if found is None:
            return None
        self._known.add(mark, found[0], 1)
        stored, suite = self._base.stored, self.base_suites[name.suite]
        keys = (
            TrialKey(suite, name.case, self._targets[name.target], repeat)
            for repeat in range(1, found[0] + 1)
        )
        trials = tuple(trial for key in keys if (trial := stored.find_result(key)) is not None)
        return CaseTrials(*trials[0].key[:3], stored.outcome(trials[0]), trials)


def _fold_side(side: Side) -> Iterator[CaseTrials]:
    return fold_trials(side.stored.results(), side.stored)


def tell_kind(base: CaseTrials | None, head: CaseTrials) -> ChangeKind:
    if base is None:
        return "added"
    verdicts = base.outcome.verdict, head.outcome.verdict
    if None in verdicts:
        return "unfinished"
    if "skipped" in verdicts:
        return "skipped"
    if (verdicts[0] == "passed") != (verdicts[1] == "passed"):
        return "fixed" if verdicts[1] == "passed" else "broken"
    return "same" if _came_to(base) == _came_to(head) else "changed"


def _came_to(case: CaseTrials) -> tuple[object, ...]:
    """What may differ; how often a case was tried is no part of it."""
    score = None if case.score is None else round(case.score, 12)
    answers = {trial.answer.fingerprint() for trial in case.trials if trial.answer}
    return case.verdict, case.outcome.passed / case.outcome.trials, score, answers
