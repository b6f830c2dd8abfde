"""A stored run: its journal is read once, then asked. It needs nothing but the folder of the run,
which may come from anyone."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from math import fsum
from typing import Generic, NamedTuple, TypeVar, overload

from evalcase.errors import ConfigError, UnknownCaseError
from evalcase.store.folder import Run
from evalcase.store.index import GradedBy, Index, read_index
from evalcase.store.reader import JournalLines
from evalcase.store.rows import Basis, End
from evalcase.types.case import Case
from evalcase.types.problem import unknown_case
from evalcase.types.result import CaseVerdict, Outcome, Result, Totals, outcome_of
from evalcase.types.target import TrialKey
from evalcase.types.value import replace
from evalcase.util.text import write_count

T = TypeVar("T")
_SHOWN = 3


class StoredRun:
    """The record of a run, at its newest grading or an earlier one."""

    def __init__(self, run: Run, grading: int | None = None, index: Index | None = None) -> None:
        """`index` is that of its journal, if it was read before."""
        self.run = run
        self.grading = grading
        self._given = index

    @cached_property
    def index(self) -> Index:
        if self._given is not None:
            return self._given
        if not os.path.exists(self.run.journal):
            return Index()  # killed before its first result
        index = read_index(self.run.journal, self.grading)
        if self.grading is not None and not 1 <= self.grading <= index.gradings:
            there = write_count(index.gradings, "grading")
            raise ConfigError(f"run {self.run.id} has {there}: there is no {self.grading}")
        return index

    @cached_property
    def end(self) -> End:
        """How it ended. That it was completed is not believed but counted; at a grading that was
        interrupted, nothing is complete."""
        index = self.index
        end = index.end
        if index.grading < index.gradings:
            end = index.ends.get(index.grading, End("incomplete"))
        if end.status != "completed":
            return end
        notice = None
        planned = self.run.about.trials if end.trials is None else end.trials
        if not index.is_complete(index.grading):
            notice = f"grading {index.grading} was interrupted"
        elif planned is not None and len(index) < planned:
            # Rows that were lost leave no other trace.
            notice = f"the record lacks {planned - len(index):,} of {planned:,} results"
        return end if notice is None else replace(end, status="incomplete", notice=notice)

    @property
    def basis(self) -> Basis:
        """What its verdicts rest on beside the answers."""
        return self.index.basis or basis_of_run(self.run)

    @property
    def mixed(self) -> tuple[str, ...]:
        return self.index.mixed()

    @cached_property
    def targets(self) -> tuple[str, ...]:
        return tuple(self.index.count_answers())

    @cached_property
    def totals(self) -> Totals:
        return self.index.tally().totals()

    # Gradings.

    @property
    def gradings(self) -> int:
        return self.index.gradings

    @cached_property
    def graded_by(self) -> GradedBy | None:
        """The origin of its grading; None where there is only one, by the suites."""
        has_several = self.gradings > 1 or bool(self.index.grading_rows)
        return self.index.graded_by() if has_several else None

    def graded_suites(self, suites: frozenset[str]) -> dict[str, str] | None:
        """The hashes of these suites when answers were last graded by them again; None if they
        never were."""
        graded = [row.suites or {} for row in self.index.grading_rows.values()]
        return next((each for each in reversed(graded) if suites == each.keys()), None)

    def before_interrupted(self) -> StoredRun:
        """The run before gradings by `grade` that were interrupted: those ask no target, and the
        run is as complete as it was."""
        number = self.gradings
        while (row := self.index.find_interrupted(number)) and row.origin == "grade":
            number -= 1
        return StoredRun(self.run, number) if number < self.gradings else self

    def refuse_interrupted(self) -> None:
        """Raise ConfigError at a grading that was interrupted: its verdicts are those of two."""
        by = self.graded_by
        if by is not None and not by.complete:
            finish = f"`evalcase resume {self.run.id}` finishes it"
            hint = finish if by.is_newest else "choose another"
            raise ConfigError(
                f"grading {by.number} of run {self.run.id} was interrupted ({by.so_far}): {hint}"
            )

    # Results and cases.

    def results(self) -> Iterator[Result]:
        """Every result that counts, in the order of the cases. All results of a case have the same
        repeats and pass rate, also where these were changed in between."""
        for result in self.index.results(self.run.about.targets):
            outcome = self.outcome(result)
            if (outcome.repeats, outcome.pass_rate) == (result.repeats, result.pass_rate):
                yield result
            else:
                yield replace(result, repeats=outcome.repeats, pass_rate=outcome.pass_rate)

    def find_result(self, key: TrialKey) -> Result | None:
        return self.index.find_result(key)

    def outcome(self, result: Result) -> Outcome:
        return self.index.outcome(result)

    def cases(self, results: Iterable[Result] | None = None) -> Iterator[CaseVerdict]:
        """Every case at every target, after the last of its results; or the cases of some results,
        which must have all results of a case or none."""
        scores: dict[tuple[str, str, str], list[float | None]] = {}
        for result in self.results() if results is None else results:
            name, outcome = result.key[:3], self.outcome(result)
            seen = scores.setdefault(name, [])
            seen.append(result.score)
            if len(seen) >= outcome.trials:
                known = [score for score in scores.pop(name) if score is not None]
                yield CaseVerdict(
                    *name, outcome.verdict, outcome.passed, outcome.trials, outcome.repeats,
                    outcome.pass_rate, fsum(known) / len(known) if known else None,
                )  # fmt: skip

    def find_case(self, suite: str, case: str) -> Case | None:
        return self.index.find_case(suite, case)

    def find_tagged(self, suite: str, case: str) -> Case | None:
        """The same; None as well if the case has neither tags nor variables."""
        return self.index.find_case(suite, case, tagged=True)

    def close(self) -> None:
        """Close the journal. What was read stays."""
        if "index" in self.__dict__:
            self.index.close()

    def __enter__(self) -> StoredRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class GrowingCase(NamedTuple):
    """A case at a target, as far as it has results."""

    case: Case | None
    outcome: Outcome
    results: tuple[Result, ...]


class NewCases(NamedTuple):
    offset: int
    """Where the next look begins."""
    cases: tuple[GrowingCase, ...]


class GrowingJournal:
    """The journal of a run in progress, for a page that shows it: each line is read once."""

    _MOST_ROWS = 500

    def __init__(self, path: str) -> None:
        self._lines = JournalLines(path)
        self.index = Index()
        self._begins: list[int] = []
        """The byte at which each result begins."""
        self._keys: list[TrialKey] = []
        self._repeats: dict[tuple[str, str, str], set[int]] = {}
        """The trials of each case at each target."""

    def reach(self) -> int:
        """The bytes of all whole lines."""
        self.index.path = self._lines.path
        for row in self._lines.rows():
            self.index.add(row, self._lines.start)
            if isinstance(row, Result):
                self._begins.append(self._lines.start)
                self._keys.append(row.key)
                self._repeats.setdefault(row.key[:3], set()).add(row.key.repeat)
        return self._lines.size

    def read_since(self, offset: int) -> NewCases:
        """The cases with results that begin there or later, some hundred at once."""
        size, first = self.reach(), bisect_left(self._begins, offset)
        last = min(len(self._begins), first + self._MOST_ROWS)
        names = dict.fromkeys(key[:3] for key in self._keys[first:last])
        reached = self._begins[last] if last < len(self._begins) else max(offset, size)
        try:
            return NewCases(reached, tuple(map(self._read_case, names)))
        finally:
            self.index.close()

    def _read_case(self, name: tuple[str, str, str]) -> GrowingCase:
        keys = [TrialKey(*name, repeat) for repeat in sorted(self._repeats[name])]
        results = tuple(filter(None, map(self.index.find_result, keys)))
        verdicts, last = Counter(each.verdict for each in results), results[-1]
        outcome = outcome_of(verdicts, max(last.repeats, len(results)), last.pass_rate)
        return GrowingCase(self.index.find_case(*name[:2]), outcome, results)


def basis_of_run(run: Run) -> Basis:
    """What verdicts rested on when the run began."""
    return Basis(run.about.suites, run.about.dealt, run.about.rests_on)


class StoredItems(Sequence[T], Generic[T]):
    """Results or cases of a run as a list, read from the record each time: a million take no
    memory."""

    def __init__(self, read: Callable[[], Iterator[T]], count: int, noun: str) -> None:
        self._read = read
        self._count = count
        self._noun = noun

    def __iter__(self) -> Iterator[T]:
        return self._read()

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: object) -> T | list[T]:
        if isinstance(index, int) and 0 <= index < len(self):
            return next(islice(self, index, None))
        if isinstance(index, int | slice):
            return list(self)[index]
        found = f"[each for each in done.{self._noun} if each.key.case == {index!r:.60}]"
        raise TypeError(f"{self._noun} are found by a number; those of a case are {found}")

    def __repr__(self) -> str:
        return f"<{write_count(len(self), self._noun[:-1])} of a record>"


class StoredCases(StoredItems[CaseVerdict]):
    """The cases of a run, which can also be found by id."""

    @overload
    def __getitem__(self, index: int | str) -> CaseVerdict: ...
    @overload
    def __getitem__(self, index: slice) -> list[CaseVerdict]: ...
    def __getitem__(self, index: int | str | slice) -> CaseVerdict | list[CaseVerdict]:
        if not isinstance(index, str):
            return super().__getitem__(index)
        found = [each for each in self if each.case == index]
        if len(found) == 1:
            return found[0]
        if not found:
            raise unknown_case(index, "the run", [each.case for each in self])
        where = ", ".join(f"{each.suite} at {each.target}" for each in found[:_SHOWN])
        raise UnknownCaseError(f"the run has {len(found)} cases {index!r}: {where}")
