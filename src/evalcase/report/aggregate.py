"""Results with their cases in, in any order; the figures of the run out.

A case at a target counts once all of its trials are there. Memory holds cases that lack trials,
eight bytes a trial for latency, as many for each case of a run with several targets, and besides
only what grows with suites, targets, tags, values of variables, graders and clusters.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from typing import TypeVar

from evalcase.report.figures import (
    ClusterName,
    Effort,
    Estimator,
    FigureCell,
    Figures,
    Interval,
    Judging,
    Slice,
    map_parts,
    settle_part,
)
from evalcase.stats.intervals import find_median, find_percentile
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.question import TrialKey
from evalcase.types.result import Result, Verdict, decide_case_verdict, outcome_of_one
from evalcase.types.value import replace
from evalcase.util.json import JsonPath, MissingError
from evalcase.util.table import mark_of

MOST_VALUES = 200
"""A variable with more values groups nothing: it may be another in each of a million rows."""
_LONGEST_VALUE = 100
_BINS = 10
_MARKS_AT_ONCE = 1 << 17
_NUMBERS = re.compile(r"(\d{1,15})")
T = TypeVar("T")
CountedGrade = tuple[str, Verdict, float | None]
"""A grade as it is counted: grader, verdict, score."""


def measure_answer(result: Result) -> float | None:
    """The seconds an answer took when it was first given; None if there is none, or if unknown. All
    latencies in reports are these numbers."""
    answer = result.answer
    if answer is None:
        return None
    return result.duration_s if answer.earlier is None else answer.earlier.duration_s


def bound_score(score: float) -> float:
    """A score within 0 to 1: one of a stranger's record may be any number."""
    return 0.0 if score < 0.0 else min(score, 1.0)


def variable_labels(case: Case | None) -> dict[str, str]:
    """The values of a case's variables that cases can be grouped by: short texts and numbers."""
    values = case._data.get("vars") if case is not None else None
    if not isinstance(values, dict):
        return {}
    labels = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
        if not isinstance(value, list | dict)
    }
    return {name: label for name, label in labels.items() if len(label) <= _LONGEST_VALUE}


class Clustering:
    """Finds the cluster of a case by the value at a path, such as a topic. A case that has nothing
    there is a cluster of its own."""

    def __init__(self, path: str) -> None:
        """Raise ValueError if it is no path."""
        self.path = path
        self.alone: set[str] = set()
        self.found = False
        """Whether some case has a value there."""
        self._path = JsonPath(path)

    def find(self, result: Result, case: Case | None) -> str:
        try:
            value = self._path.find(case._data if case is not None else {})
        except MissingError:
            value = None
        if value is None:
            name = json.dumps([result.key.suite, result.key.case])
            self.alone.add(name)
            return f" {name}"  # the JSON of a value never begins with a blank
        self.found = True
        return json.dumps(value, sort_keys=True)


class _EffortSums:
    """What the answers of a target took; eight bytes for each trial."""

    def __init__(self) -> None:
        self.answers = 0
        self.busy_s = 0.0
        self.durations = array("d")
        self.cost_usd = 0.0
        self.rounded = 0.0
        """The rounding error of the cost, after Neumaier: a million small amounts add up right."""
        self.priced = 0
        self.unpriced = 0
        self.cached = 0
        self.reported = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.bins = [0] * _BINS
        """Cases by the tenth that their score is in; the last has 1 in it."""

    def add(self, result: Result) -> None:
        self.busy_s += result.duration_s
        answer = result.answer
        if answer is None:
            return
        self.answers += 1
        self.cached += answer.cached
        took_s = measure_answer(result)
        if took_s is not None:
            self.durations.append(took_s)
        if answer.cost_usd is None:
            self.unpriced += 1
        else:
            self._add_cost(answer.cost_usd)
        if answer.usage is not None:
            self.reported += 1
            self.input_tokens += answer.usage.input_tokens or 0
            self.output_tokens += answer.usage.output_tokens or 0

    def _add_cost(self, usd: float) -> None:
        self.priced += 1
        before = self.cost_usd
        self.cost_usd = after = before + usd
        larger, smaller = (before, usd) if abs(before) >= abs(usd) else (usd, before)
        self.rounded += (larger - after) + smaller

    def add_score(self, score: float) -> None:
        self.bins[int(score * _BINS) if score < 1 else _BINS - 1] += 1


class _JudgingSums:
    """Calls of targets by graders, such as judges."""

    def __init__(self) -> None:
        self.asked = 0
        self.cached = 0
        self.seconds = 0.0
        self.cost_usd: float | None = None
        self.input_tokens = 0
        self.output_tokens = 0

    def add(self, grade: Grade) -> None:
        self.asked += grade.asked
        self.cached += grade.cached
        self.seconds += grade.asking_s or 0.0
        if grade.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + grade.cost_usd
        if grade.usage is not None:
            self.input_tokens += grade.usage.input_tokens or 0
            self.output_tokens += grade.usage.output_tokens or 0

    def figures(self) -> Judging | None:
        if not self.asked:
            return None
        return Judging(
            self.asked, self.cached, self.input_tokens, self.output_tokens, self.seconds,
            self.cost_usd,
        )  # fmt: skip


class _VariableCells:
    """Cells by the name of a variable, its value and the cluster."""

    def __init__(self) -> None:
        self.cells: dict[str, dict[tuple[str, ClusterName], FigureCell]] = {}
        self.crowded: set[str] = set()
        """Names with too many values; they are not counted."""
        self.grouping: set[str] = set()
        """Names with a value that several cases share."""
        self._first: dict[str, dict[str, tuple[str, str]]] = {}
        """The suite and id of the first case with each value."""

    def find(self, case: Case | None, key: TrialKey, cluster: ClusterName) -> list[FigureCell]:
        found = []
        for name, label in variable_labels(case).items():
            if name in self.crowded:
                continue
            first = self._first.setdefault(name, {})
            if first.setdefault(label, key[:2]) != key[:2]:
                self.grouping.add(name)
            if len(first) > MOST_VALUES:
                self.crowded.add(name)
                self.cells.pop(name, None)
                continue
            found.append(_find_cell(self.cells.setdefault(name, {}), (label, cluster)))
        return found


class _OpenCase:
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
        """`targets` are in the order in which they were named. With `several_targets`, a hash of
        every case is kept, to tell which cases have several."""
        self.clustering = clustering
        self.targets = tuple(targets)
        self.places: dict[tuple[str, str, ClusterName], FigureCell] = {}
        """Cases by suite, target and cluster."""
        self.tags: dict[tuple[str, ClusterName], FigureCell] = {}
        self.variables = _VariableCells()
        self.graders: dict[tuple[str, ClusterName], FigureCell] = {}
        self.efforts: dict[str, _EffortSums] = {}
        """By target."""
        self.judging = _JudgingSums()
        self._marks: dict[str, array[int]] | None = {} if several_targets else None
        """By suite, a hash of the case for each case at a target."""
        self._open: dict[tuple[str, str, str], _OpenCase] = {}

    def add(self, result: Result, case: Case | None = None) -> None:
        """Add a result. The case gives its tags and variables, and its cluster."""
        suite, _, target, _ = result.key
        effort = self.efforts.get(target)
        if effort is None:
            effort = self.efforts[target] = _EffortSums()
        effort.add(result)
        for grade in result.grades:
            if grade.asked:
                self.judging.add(grade)
        cluster = self.clustering.find(result, case) if self.clustering is not None else None
        if result.repeats > 1:
            self._add_repeat(result, case, effort, cluster)
            return
        verdict = outcome_of_one(result.verdict, result.pass_rate).verdict or result.verdict
        score = result.score
        if score is not None:
            score = bound_score(score)
            effort.add_score(score)
        cell = self.places.get((suite, target, cluster))
        if cell is None:
            cell = self.places[suite, target, cluster] = FigureCell(cluster)
        cell.add_once(verdict, score)
        self._mark(result.key)
        if case is not None and ("tags" in case._data or "vars" in case._data):
            for cell in self._group_cells(case, result.key, cluster):
                cell.add_once(verdict, score)
        if result.grades:
            self._add_grades([_count_grade(grade) for grade in result.grades], cluster)

    def count_unfinished(self) -> Counter[FigureCell]:
        """Cases that lack trials, by the cells that they would be counted in."""
        return Counter(cell for case in self._open.values() for cell in case.cells)

    def count_cases(self) -> tuple[int, frozenset[str]]:
        """The number of cases, each once whatever its targets; and the suites with a case that has
        several targets."""
        if self._marks is None:
            targets: dict[str, set[str]] = {}
            for suite, target, _ in self.places:
                targets.setdefault(suite, set()).add(target)
            total = sum(sum(n for _, n in cell.counts()) + cell.once.get("skipped", 0)
                        for cell in self.places.values())  # fmt: skip
            return total, frozenset(suite for suite, names in targets.items() if len(names) > 1)
        distinct = {suite: _count_distinct(marks) for suite, marks in self._marks.items()}
        shared = (suite for suite, count in distinct.items() if count < len(self._marks[suite]))
        return sum(distinct.values()), frozenset(shared)

    def _mark(self, key: TrialKey) -> None:
        if self._marks is not None:
            marks = self._marks.get(key.suite)
            if marks is None:
                marks = self._marks[key.suite] = array("Q")
            marks.append(mark_of(key.case))

    def _add_repeat(
        self, result: Result, case: Case | None, effort: _EffortSums, cluster: ClusterName
    ) -> None:
        """Add a trial of a repeated case; and the case with its last trial."""
        name = result.key[:3]
        held = self._open.get(name)
        if held is None:
            place = (result.key.suite, result.key.target, cluster)
            cells = [self.places.setdefault(place, FigureCell(cluster))]
            cells += self._group_cells(case, result.key, cluster)
            held = self._open[name] = _OpenCase(cells)
            self._mark(result.key)
        held.verdicts.append(result.verdict)
        held.grades += map(_count_grade, result.grades)
        if (score := result.score) is not None:
            held.scores.append(bound_score(score))
        if len(held.verdicts) < result.repeats:
            return
        del self._open[name]
        verdicts = held.verdicts
        verdict = decide_case_verdict(verdicts, result.pass_rate)
        trials = (len(verdicts), verdicts.count("passed"), verdicts.count("errored"))
        if held.scores:
            effort.add_score(sum(held.scores) / len(held.scores))
        for cell in held.cells:
            cell.add_case({verdict: 1}, trials, held.scores)
        if held.grades:
            self._add_grades(held.grades, cluster)

    def _group_cells(
        self, case: Case | None, key: TrialKey, cluster: ClusterName
    ) -> list[FigureCell]:
        """The cells of a case's tags and variables."""
        tags = case._data.get("tags", ()) if case is not None else ()
        tagged = [_find_cell(self.tags, (tag, cluster)) for tag in dict.fromkeys(tags)]
        return tagged + self.variables.find(case, key, cluster)

    def _add_grades(self, grades: Sequence[CountedGrade], cluster: ClusterName) -> None:
        """Count the grades of a case, each grader once."""
        named: dict[str, list[CountedGrade]] = {}
        for grade in grades:
            named.setdefault(grade[0], []).append(grade)
        for name, several in named.items():
            cell = _find_cell(self.graders, (name, cluster))
            if len(several) == 1:
                cell.add_once(*several[0][1:])
            else:
                verdicts = Counter(verdict for _, verdict, _ in several)
                trials = (len(several), verdicts["passed"], verdicts["errored"])
                scores = [score for *_, score in several if score is not None]
                cell.add_case(verdicts, trials, scores)


def _count_distinct(marks: Sequence[int]) -> int:
    """By parts: a set of a million numbers would take more memory than a run."""
    parts = 1 + len(marks) // _MARKS_AT_ONCE
    return sum(len({mark for mark in marks if mark % parts == part}) for part in range(parts))


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


def sum_up(
    ledger: Ledger, interval: Interval = "wilson", ks: Sequence[int] = (), *, not_run: int = 0,
    targets: Sequence[str] = (),
) -> Figures:  # fmt: skip
    """All figures. No result tells how many cases were not started: `not_run` does."""
    clustering, variables = ledger.clustering, ledger.variables
    estimator = Estimator(interval, clustering is not None, tuple(ks))
    unfinished = ledger.count_unfinished()

    def figure(cells: Sequence[FigureCell]) -> Slice:
        return estimator.of_cases(cells, sum(unfinished[cell] for cell in cells))

    places, named = ledger.places.items(), targets or ledger.targets
    efforts = {name: _sum_efforts([effort]) for name, effort in ledger.efforts.items()}
    distinct, shared = ledger.count_cases()
    figures = Figures(
        figure([*ledger.places.values()]), _sum_efforts(ledger.efforts.values()),
        _in_named_order(_sum_parts(figure, ((name, cell) for (_, name, _), cell in places)), named),
        _in_named_order(efforts, named),
        _in_natural_order(
            _sum_parts(figure, ((suite, cell) for (suite, _, _), cell in places))
        ),
        _in_natural_order(
            _sum_parts(figure, ((tag, cell) for (tag, _), cell in ledger.tags.items()))
        ),
        _sum_parts(
            estimator.of_grader, ((name, cell) for (name, _), cell in ledger.graders.items())
        ),
        not_run, interval, clustering.path if clustering is not None else None,
        len(clustering.alone) if clustering is not None else 0, "", ledger.judging.figures(),
        {
            name: _in_natural_order(
                _sum_parts(figure, ((value, cell) for (value, _), cell in cells.items()))
            )
            for name, cells in variables.cells.items()
        },
        tuple(variables.crowded), frozenset(variables.grouping), distinct,
    )  # fmt: skip
    if clustering is not None or not shared:
        return figures
    # A case that is hard is so for each target: counted as several independent cases, it would make
    # the interval too narrow. To tell how far targets go together takes more than a hash a case.
    by_suite = figures.by_suite
    figures = map_parts(figures, settle_part)
    return replace(
        figures, all=settle_part(figures.all),
        by_suite={
            name: figures.by_suite[name] if name in shared else part
            for name, part in by_suite.items()
        },
        without="intervals are shown per target; `report --cluster id` gives one for all",
    )  # fmt: skip


def _sum_parts(
    figure: Callable[[Sequence[FigureCell]], Slice], named: Iterable[tuple[str, FigureCell]]
) -> dict[str, Slice]:
    grouped: dict[str, list[FigureCell]] = {}
    for name, cell in named:
        grouped.setdefault(name, []).append(cell)
    return {name: figure(cells) for name, cells in grouped.items()}


def _in_named_order(parts: dict[str, T], named: Sequence[str]) -> dict[str, T]:
    """In the order of some names: which result came first is chance."""
    first = [name for name in named if name in parts]
    return {name: parts[name] for name in dict.fromkeys([*first, *parts])}


def _in_natural_order(parts: dict[str, Slice]) -> dict[str, Slice]:
    """By name, numbers in it by their size."""

    def order(name: str) -> list[tuple[int, str]]:
        return [
            (int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBERS.split(name)
        ]

    return {name: parts[name] for name in sorted(parts, key=order)}


def _sum_efforts(several: Iterable[_EffortSums]) -> Effort:
    """What the answers of one target took, or of several together."""
    sums = list(several)
    durations = array("d")
    for each in sums:
        durations.extend(each.durations)
    ordered = sorted(durations)
    costs = [amount for each in sums for amount in (each.cost_usd, each.rounded)]
    return Effort(
        sum(each.answers for each in sums), len(ordered), find_median(ordered),
        find_percentile(ordered, 95), sum(each.busy_s for each in sums),
        sum(each.reported for each in sums),
        sum(each.input_tokens for each in sums), sum(each.output_tokens for each in sums),
        fsum(costs) if any(each.priced for each in sums) else None,
        sum(each.unpriced for each in sums), sum(each.cached for each in sums),
        tuple(map(sum, zip(*(each.bins for each in sums), strict=True))),
    )  # fmt: skip
