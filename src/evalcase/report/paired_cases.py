"""The cases of two sides, paired by suite, id and target while they stream by.

Of base, a few bytes a case are held; its trials are looked up when their pair comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple, Protocol, get_args

from evalcase.report.cases import CaseTrials, fold_trials
from evalcase.store.folder import Run, describe_name
from evalcase.types.case import Case
from evalcase.types.question import TrialKey
from evalcase.types.result import MOST_REPEATS, Outcome, Result
from evalcase.types.value import Value
from evalcase.util.table import Table, mark_of

ChangeKind = Literal[
    "broken", "fixed", "changed", "added", "removed", "skipped", "same", "unfinished"
]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
NAMED_KINDS = CHANGE_KINDS[:6]
"""The kinds whose cases are named."""


class StoredResults(Protocol):
    """Results that can be gone through, and looked up: a record, or a file of trials."""

    @property
    def targets(self) -> tuple[str, ...]: ...
    def results(self) -> Iterator[Result]: ...
    def outcome(self, result: Result, /) -> Outcome: ...
    def find_case(self, suite: str, case: str, /) -> Case | None: ...
    def find_result(self, key: TrialKey, /) -> Result | None: ...


class Side(Value, frozen=True):
    stored: StoredResults
    label: str
    """What it is called in a report."""
    place_of: Callable[[str], str] = str
    """Where a suite lies in its project, by the path that it was named with."""
    missing: str = ""
    """Why it is not complete; empty if it is."""
    mixed: tuple[str, ...] = ()
    """The targets with answers from before and after a change."""
    whole_cases: bool = True
    """Whether it has all of each case, and not only what was asked and expected."""
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
        """The name, note and commit of its run; empty where it has none."""
        return "" if self.run is None else describe_name(self.run)

    def find_trial(self, key: TrialKey | None) -> Result | None:
        return None if key is None else self.stored.find_result(key)


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
        self._known = Table("IB")
        """For each case of base at a target of head: its last repeat, and whether head has it."""

    def read_base(self) -> Iterator[CaseTrials]:
        """Every case of base, also at targets that are not compared."""
        for case in _fold_side(self._base):
            last = min(case.trials[-1].key.repeat, MOST_REPEATS)
            for name in self._names_in_head(case):
                self.base_suites.setdefault(name.suite, case.suite)
                self._known.add(mark_of(name), last, 0)
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
                found = self._known.find(mark_of(name))
                if found is not None and not found[1]:
                    yield CasePair(name, "removed", base, None)

    def _names_in_head(self, case: CaseTrials) -> Iterator[PlacedName]:
        place = self._base.place_of(case.suite)
        for head_target, base_target in self._targets.items():
            if base_target == case.target:
                yield PlacedName(place, case.case, head_target)

    def _find_base(self, name: PlacedName) -> CaseTrials | None:
        mark = mark_of(name)
        found = self._known.find(mark)
        if found is None:
            return None
        self._known.put(mark, 1, 1)
        stored, suite = self._base.stored, self.base_suites[name.suite]
        keys = (
            TrialKey(suite, name.case, self._targets[name.target], repeat)
            for repeat in range(1, found[0] + 1)
        )
        trials = tuple(trial for key in keys if (trial := stored.find_result(key)) is not None)
        return CaseTrials(stored.outcome(trials[0]), trials)


def _fold_side(side: Side) -> Iterator[CaseTrials]:
    return fold_trials(side.stored.results(), side.stored.outcome)


def tell_kind(base: CaseTrials | None, head: CaseTrials) -> ChangeKind:
    """What became of a case."""
    if base is None:
        return "added"
    verdicts = base.outcome.verdict, head.outcome.verdict
    if None in verdicts:
        return "unfinished"
    if "skipped" in verdicts:
        return "skipped"
    if (verdicts[0] == "passed") != (verdicts[1] == "passed"):
        return "fixed" if verdicts[1] == "passed" else "broken"
    return "same" if _standing(base) == _standing(head) else "changed"


def _standing(case: CaseTrials) -> tuple[object, ...]:
    """What a case came to: where it is equal, nothing has changed."""
    answers = sorted(trial.answer.fingerprint() for trial in case.trials if trial.answer)
    return case.verdict, case.outcome.passed, case.outcome.trials, case.score, answers
