"""Results with their cases in, in any order; out the cells that figures are made of.

A case at a target is what is counted, once all of its trials are there. It holds cases of which
some trials have not come, eight bytes a trial for latency, as many for each case of a run with
several targets, and besides only what grows with suites, targets, tags, values of variables,
graders and clusters.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalcase.report.figures.by_variable import VariableCells
from evalcase.report.figures.cell import ClusterName, FigureCell, JudgingSums, Spent, bound_score
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.question import TrialKey
from evalcase.types.result import Result, Verdict, decide_case_verdict, outcome_of_one
from evalcase.util.table import mark_of

if TYPE_CHECKING:
    from evalcase.report.figures.clustering import Clustering

CountedGrade = tuple[str, Verdict, float | None]
"""What is counted of a grade: its grader, a verdict, and a score."""


_AT_ONCE = 1 << 17


class _CountedCase:
    """A case that has some of its trials."""

    __slots__ = ("cells", "grades", "scores", "verdicts")

    def __init__(self, cells: list[FigureCell]) -> None:
        self.cells = cells
        self.verdicts: list[Verdict] = []
        self.scores: list[float] = []
        self.grades: list[CountedGrade] = []


class Ledger:
    """Adds results up."""

    def __init__(
        self, clustering: Clustering | None = None, *, several_targets: bool = False,
        targets: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """With `several_targets`, it is noted which cases come at more than one of them."""
        self.clustering = clustering
        self.targets = tuple(targets)
        """In the order in which they were named, as far as that is known."""
        self._notes_cases = several_targets and clustering is None
        self.places: dict[tuple[str, str, ClusterName], FigureCell] = {}
        """Cases by suite and target."""
        self.tags: dict[tuple[str, ClusterName], FigureCell] = {}
        self.variables = VariableCells()
        self.graders: dict[tuple[str, ClusterName], FigureCell] = {}
        self.spent: dict[str, Spent] = {}
        """By target."""
        self.asked = JudgingSums()
        self._cases: dict[str, array[int]] = {}
        """Marks of the cases of each suite, one for each of their targets."""
        self._open: dict[tuple[str, str, str], _CountedCase] = {}

    def add(self, result: Result, case: Case | None = None) -> None:
        """Take a result. Of its case tags and variables are read, and what says which cluster it
        is in."""
        suite, _, target, _ = result.key
        spent = self.spent.get(target)
        if spent is None:
            spent = self.spent[target] = Spent()
        spent.add(result)
        for grade in result.grades:
            if grade.asked:
                self.asked.add(grade)
        cluster = self.clustering.find(result, case) if self.clustering is not None else None
        if result.repeats > 1:
            self._fold(result, case, spent, cluster)
            return
        verdict = outcome_of_one(result.verdict, result.pass_rate).verdict or result.verdict
        score = result.score
        if score is not None:
            score = bound_score(score)
            spent.sort(score)
        cell = self.places.get((suite, target, cluster))
        if cell is None:
            cell = self.places[suite, target, cluster] = FigureCell(cluster)
        cell.add_once(verdict, score)
        self._note(result.key)
        if case is not None and ("tags" in case._data or "vars" in case._data):
            for cell in self._grouped(case, result.key, cluster):
                cell.add_once(verdict, score)
        if result.grades:
            self._add_grades([_count_grade(grade) for grade in result.grades], cluster)

    def count_unfinished(self) -> Counter[FigureCell]:
        """How many cases lack some of their trials, by where they would be counted."""
        return Counter(cell for held in self._open.values() for cell in held.cells)

    def find_shared(self) -> frozenset[str]:
        """The suites of which some case is there once for each of several targets; where cases were
        not noted, those that have several targets."""
        targets: dict[str, set[str]] = {}
        for suite, target, _ in self.places:
            targets.setdefault(suite, set()).add(target)
        return frozenset(
            suite
            for suite, several in targets.items()
            if len(several) > 1
            and (not self._notes_cases or _has_one_twice(self._cases.get(suite, ())))
        )

    def _note(self, key: TrialKey) -> None:
        if not self._notes_cases:
            return
        marks = self._cases.get(key.suite)
        if marks is None:
            marks = self._cases[key.suite] = array("Q")
        marks.append(mark_of(key.case))

    def _fold(self, result: Result, case: Case | None, spent: Spent, cluster: ClusterName) -> None:
        """Take a trial of a repeated case; and the case, if that is the last."""
        name = result.key[:3]
        held = self._open.get(name)
        if held is None:
            place = (result.key.suite, result.key.target, cluster)
            cells = [self.places.setdefault(place, FigureCell(cluster))]
            held = self._open[name] = _CountedCase(cells + self._grouped(case, result.key, cluster))
            self._note(result.key)
        held.verdicts.append(result.verdict)
        held.grades += map(_count_grade, result.grades)
        if (score := result.score) is not None:
            held.scores.append(bound_score(score))
        if len(held.verdicts) >= result.repeats:
            del self._open[name]
            self._close(held, result.pass_rate, spent, cluster)

    def _close(
        self, held: _CountedCase, pass_rate: float, spent: Spent, cluster: ClusterName
    ) -> None:
        verdicts = held.verdicts
        verdict = decide_case_verdict(verdicts, pass_rate)
        trials = (len(verdicts), verdicts.count("passed"), verdicts.count("errored"))
        if held.scores:
            spent.sort(sum(held.scores) / len(held.scores))
        for cell in held.cells:
            cell.add_case({verdict: 1}, trials, held.scores)
        if held.grades:
            self._add_grades(held.grades, cluster)

    def _grouped(self, case: Case | None, key: TrialKey, cluster: ClusterName) -> list[FigureCell]:
        """Where a case is counted by its tags, and by its variables."""
        tags = case._data.get("tags", ()) if case is not None else ()
        tagged = [_find_cell(self.tags, (tag, cluster)) for tag in dict.fromkeys(tags)]
        return tagged + self.variables.find(case, key, cluster)

    def _add_grades(self, grades: Sequence[CountedGrade], cluster: ClusterName) -> None:
        """Count what graders said of a case, each grader once."""
        if len(grades) == 1:
            name, verdict, score = grades[0]
            _find_cell(self.graders, (name, cluster)).add_once(verdict, score)
            return
        named: dict[str, list[CountedGrade]] = {}
        for said in grades:
            named.setdefault(said[0], []).append(said)
        for name, several in named.items():
            cell = _find_cell(self.graders, (name, cluster))
            if len(several) == 1:
                cell.add_once(*several[0][1:])
            else:
                verdicts = Counter(verdict for _, verdict, _ in several)
                trials = (len(several), verdicts["passed"], verdicts["errored"])
                cell.add_case(
                    verdicts, trials, [score for *_, score in several if score is not None]
                )


def _has_one_twice(marks: Sequence[int]) -> bool:
    """Whether a number is there twice. A set of a million would take more memory than a run."""
    parts = 1 + len(marks) // _AT_ONCE
    for part in range(parts):
        some = [mark for mark in marks if mark % parts == part]
        if len(set(some)) < len(some):
            return True
    return False


def _find_cell(
    cells: dict[tuple[str, ClusterName], FigureCell], name: tuple[str, ClusterName]
) -> FigureCell:
    cell = cells.get(name)
    if cell is None:
        cell = cells[name] = FigureCell(name[1])
    return cell


def _count_grade(grade: Grade) -> CountedGrade:
    if grade.failure is not None:
        return grade.grader, "errored", None
    score = None if grade.score is None else bound_score(grade.score)
    if grade.passed:
        return grade.grader, "passed", score
    return grade.grader, "ungraded" if score is None else "failed", score
