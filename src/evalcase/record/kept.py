"""A run as its record tells it, and nothing else: its journal is gone through once, then asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from math import fsum

from evalcase.errors import ConfigError
from evalcase.model.case import Case
from evalcase.model.outcome import CaseVerdict, Outcome
from evalcase.model.result import Result
from evalcase.model.target import TargetVersion
from evalcase.model.totals import Totals
from evalcase.model.trial_key import TrialKey
from evalcase.model.value import replace
from evalcase.record.basis import Basis, basis_of_run
from evalcase.record.cases import CaseShelf, shelve_cases
from evalcase.record.ending import End, check_end, read_end
from evalcase.record.folder import Run
from evalcase.record.gradings import GradedBy, GradingBegun
from evalcase.record.index import Index, read_index
from evalcase.record.lines import open_lines
from evalcase.record.outcomes import Outcomes, fold_outcomes
from evalcase.record.reader import read_result_at, read_results_of
from evalcase.text.counted import write_count


class KeptRun:
    """The record of a run, at its newest grading or an earlier one. It may come from anyone."""

    def __init__(self, run: Run, grading: int | None = None, index: Index | None = None) -> None:
        """`index` is that of its journal, where somebody has read that just now."""
        self.run = run
        self.grading = grading
        self._read = index

    @cached_property
    def end(self) -> End:
        """How it ended, or stood at an earlier grading. That it was completed is not believed, but
        counted; and at a grading that was broken off nothing is complete."""
        index = self._index
        if index.grading < index.gradings:
            end = index.ends.get(index.grading, End("incomplete"))
        else:
            end = read_end(self.run.journal)
        if end.status == "completed" and not index.is_whole(index.grading):
            broken = f"grading {index.grading} was interrupted"
            return replace(end, status="incomplete", notice=broken)
        return check_end(end, self.planned, len(index))

    @property
    def gradings(self) -> int:
        """How many gradings of its answers there are."""
        return self._index.gradings

    @cached_property
    def graded_by(self) -> GradedBy | None:
        """Where the grading comes from that is looked at; None where there is only one, and the
        suites say it."""
        has_several = self.gradings > 1 or bool(self._index.begun)
        return self._index.graded_by() if has_several else None

    @property
    def versions(self) -> dict[str, TargetVersion]:
        """What targets were changed to while it went on, where they were."""
        return dict(self._index.versions)

    @cached_property
    def basis(self) -> Basis:
        """What its verdicts rest on beside the answers."""
        return self._index.basis or basis_of_run(self.run.about)

    def before_broken(self) -> KeptRun:
        """The same run, as it stood before gradings by `grade` that were broken off: those ask no
        target, and say nothing of how complete its answers are."""
        number = self.gradings
        while (broken := self._index.find_broken(number)) and broken.origin == "grade":
            number -= 1
        return KeptRun(self.run, number) if number < self.gradings else self

    def find_broken(self) -> GradingBegun | None:
        """The newest grading, if it was broken off."""
        return self._index.find_broken(self.gradings)

    def refuse_broken(self) -> None:
        """Raise ConfigError at a grading that was broken off: its verdicts are those of two, and
        nothing can rest on them."""
        by = self.graded_by
        if by is not None and not by.complete:
            finish = f"`evalcase resume {self.run.id}` finishes it"
            hint = finish if by.is_newest else "choose another"
            raise ConfigError(
                f"grading {by.number} of run {self.run.id} was interrupted ({by.so_far}): {hint}"
            )

    def count_answers(self) -> dict[str, int]:
        """How many answers there are of each target that was asked."""
        return self._index.count_answers()

    @property
    def mixed(self) -> tuple[str, ...]:
        """The targets of which there are answers from before and after a change."""
        return self._index.mixed()

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The targets of which there are results."""
        return self._index.targets()

    @property
    def planned(self) -> int | None:
        """How many trials there are to be, as far as the record says."""
        return self.run.about.trials

    @cached_property
    def totals(self) -> Totals:
        return self._index.tally().totals()

    def results(self) -> Iterator[Result]:
        """Every result that counts, in the order of the cases. All of a case say the same of how
        often it is repeated, also where that was changed in between."""
        if not len(self._index):
            return
        for result in read_results_of(self.run.journal, self._index, self.run.about.targets):
            outcome = self.outcome(result)
            if (outcome.repeats, outcome.pass_rate) == (result.repeats, result.pass_rate):
                yield result
            else:
                yield replace(result, repeats=outcome.repeats, pass_rate=outcome.pass_rate)

    def find_result(self, key: TrialKey) -> Result | None:
        """The result of one trial; None if there is none."""
        found = self._index.find(key)
        if found is None:
            return None
        with open_lines(self.run.journal) as file:
            return read_result_at(self.run.journal, file, found.answer_at, found.grading_at)

    def outcome(self, result: Result) -> Outcome:
        """What became of the case of a result, all of its trials together."""
        return self._outcomes.find(result)

    def cases(self, results: Iterable[Result] | None = None) -> Iterator[CaseVerdict]:
        """Every case at every target, when the last of its results has come; or those of some
        results, all of a case or none."""
        scores: dict[tuple[str, str, str], list[float | None]] = {}
        for result in self.results() if results is None else results:
            name, outcome = result.key[:3], self.outcome(result)
            known = scores.setdefault(name, [])
            known.append(result.score)
            if len(known) >= outcome.trials:
                yield _make_verdict(name, outcome, scores.pop(name))

    def find_case(self, suite: str, case: str) -> Case | None:
        """A case as it was when it was graded; None if the record hasn't got it."""
        return self._shelf.find(suite, case)

    def find_tagged(self, suite: str, case: str) -> Case | None:
        """The same; None as well if the case has neither tags nor variables, which is soon told."""
        return self._shelf.find_tagged(suite, case)

    def close(self) -> None:
        """Let go of the journal. What was read stays."""
        if "_shelf" in self.__dict__:
            self._shelf.close()

    def __enter__(self) -> KeptRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _index(self) -> Index:
        if self._read is not None:
            return self._read
        journal = self.run.journal
        if not os.path.exists(journal):
            return Index()  # killed before there was one
        index = read_index(journal, self.grading)
        if self.grading is not None and not 1 <= self.grading <= index.gradings:
            there = write_count(index.gradings, "grading")
            raise ConfigError(f"run {self.run.id} has {there}: there is no {self.grading}")
        return index

    @cached_property
    def _outcomes(self) -> Outcomes:
        return fold_outcomes(self._index)

    @cached_property
    def _shelf(self) -> CaseShelf:
        return shelve_cases(self.run.journal, self.grading)


def _make_verdict(
    name: tuple[str, str, str], outcome: Outcome, scores: list[float | None]
) -> CaseVerdict:
    known = [score for score in scores if score is not None]
    return CaseVerdict(
        *name, outcome.verdict, outcome.passed, outcome.trials, outcome.repeats, outcome.pass_rate,
        fsum(known) / len(known) if known else None,
    )  # fmt: skip
