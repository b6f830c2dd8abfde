"""Results with their cases in, in any order; the figures of the run out.

A case at a target counts once all of its trials are there. Memory holds cases that lack trials,
24 bytes for each other case, and besides only what grows with suites, targets, tags, values of
variables, graders and clusters.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from evalcase.report.figures import (
    ClusterName,
    Effort,
    Estimator,
    FigureCell,
    Figures,
    Interval,
    Judging,
    Slice,
)
from evalcase.types.case import Case
from evalcase.types.result import Decision, Outcome, Result, Verdict, decide_case_verdict
from evalcase.types.target import TrialKey
from evalcase.types.value import replace
from evalcase.util.json import JsonPath, MissingError
from evalcase.util.table import mark_of

MOST_VALUES = 200
"""A variable with more values groups nothing: it may be another in each of a million rows."""
_LONGEST_VALUE = 100
_MARKS_AT_ONCE = 1 << 17


class _ByCluster(dict[ClusterName, FigureCell]):
    def __missing__(self, cluster: ClusterName) -> FigureCell:
        cell = self[cluster] = FigureCell(cluster)
        return cell


Cells = defaultdict[str, _ByCluster]
"""The cells of parts by their name and cluster."""


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


class _OpenCase(Struct):
    """A case at a target, with those of its trials that have come."""

    cells: list[FigureCell]
    cluster: ClusterName
    verdicts: list[Verdict] = []
    scores: list[float] = []
    grades: dict[str, tuple[list[Verdict], list[float]]] = {}
    """By grader, the verdicts and the scores of its grades."""

    def add(self, result: Result) -> None:
        self.verdicts.append(result.verdict)
        if (score := result.score) is not None:
            self.scores.append(_bound_score(score))
        for grade in result.grades:
            verdicts, scores = self.grades.setdefault(grade.grader, ([], []))
            verdicts.append(grade.verdict)
            if grade.failure is None and grade.score is not None:
                scores.append(_bound_score(grade.score))


def _bound_score(score: float) -> float:
    """A score within 0 to 1: one of a stranger's record may be any number."""
    return 0.0 if score < 0.0 else min(score, 1.0)


class Ledger:
    def __init__(self, clustering: Clustering | None = None) -> None:
        self.clustering = clustering
        self.places: defaultdict[tuple[str, str], _ByCluster] = defaultdict(_ByCluster)
        """Cases by suite and target."""
        self.tags: Cells = defaultdict(_ByCluster)
        self.variables: defaultdict[str, Cells] = defaultdict(lambda: defaultdict(_ByCluster))
        """Cases by the name of a variable and its value."""
        self.crowded: set[str] = set()
        """Variables with too many values; they are not counted."""
        self.graders: Cells = defaultdict(_ByCluster)
        self.efforts: defaultdict[str, Effort] = defaultdict(Effort)
        """By target."""
        self.judging = Judging()
        self._marks: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        """By suite, a hash of the case for each case at a target."""
        self._open: dict[tuple[str, str, str], _OpenCase] = {}

    def add(self, result: Result, case: Case | None = None) -> Outcome:
        """Add a result; return what its case has come to. The case gives its tags and variables,
        and its cluster."""
        key = result.key
        effort = self.efforts[key.target]
        effort.add(result)
        for grade in result.grades:
            if grade.asked:
                self.judging.add(grade)
        held = self._open.get(key[:3])
        if held is None:
            cluster = self.clustering.find(result, case) if self.clustering is not None else None
            held = _OpenCase(list(self._find_cells(case, key, cluster)), cluster)
            self._open[key[:3]] = held
        held.add(result)
        trials, verdict = len(held.verdicts), None
        if trials >= result.repeats:
            del self._open[key[:3]]
            verdict = decide_case_verdict(held.verdicts, result.pass_rate)
            for cell in held.cells:
                cell.add((verdict,), held.verdicts, held.scores)
            if held.scores:
                effort.add_score(sum(held.scores) / len(held.scores))
            for name, (verdicts, scores) in held.grades.items():
                self.graders[name][held.cluster].add(verdicts, verdicts, scores)
        passed = held.verdicts.count("passed")
        return Outcome(verdict, passed, trials, result.repeats, result.pass_rate)

    def add_verdict(self, suite: str, case: str, target: str, verdict: Verdict | None) -> None:
        cell = self._find_place(suite, case, target, None)
        if verdict is not None:
            cell.verdicts[verdict] += 1

    def count_unfinished(self) -> Counter[FigureCell]:
        """Cases that lack trials, by the cells that they would be counted in."""
        return Counter(cell for case in self._open.values() for cell in case.cells)

    def count_cases(self) -> tuple[int, frozenset[str]]:
        """The number of cases, each once whatever its targets; and the suites with a case that has
        several targets."""
        distinct: Counter[str] = Counter()
        for suite, marks in self._marks.items():
            # By parts: a set of a million numbers would take more memory than a run.
            parts = 1 + len(marks) // _MARKS_AT_ONCE
            for part in range(parts):
                distinct[suite] += len({mark for mark in marks if mark % parts == part})
        shared = (suite for suite, count in distinct.items() if count < len(self._marks[suite]))
        return distinct.total(), frozenset(shared)

    def _find_cells(
        self, case: Case | None, key: TrialKey, cluster: ClusterName
    ) -> Iterator[FigureCell]:
        """The cells that a case is counted in: of its suite and target, its tags and variables."""
        yield self._find_place(key.suite, key.case, key.target, cluster)
        if case is None or not ("tags" in case._data or "vars" in case._data):
            return
        for tag in dict.fromkeys(case._data.get("tags", ())):
            yield self.tags[tag][cluster]
        for name, label in variable_labels(case).items():
            if name in self.crowded:
                continue
            yield self.variables[name][label][cluster]
            if len(self.variables[name]) > MOST_VALUES:
                self.crowded.add(name)
                del self.variables[name]

    def _find_place(self, suite: str, case: str, target: str, cluster: ClusterName) -> FigureCell:
        self._marks[suite].append(mark_of(case))
        return self.places[suite, target][cluster]


def sum_up(
    ledger: Ledger, interval: Interval = "wilson", ks: Sequence[int] = (), *, not_run: int = 0,
    targets: Sequence[str] = (), decision: Decision | None = None, is_biased: bool = False,
) -> Figures:  # fmt: skip
    """All figures, targets in the order in which they were named. No result tells how many cases
    were not started: `not_run` does. Where the results ended a run early, by a `decision` or else
    `is_biased`, only the interval of the decision holds."""
    clustering = ledger.clustering
    interval = "sequence" if decision is not None or is_biased else interval
    without = "no interval: the results ended the run early" if is_biased else ""
    apart = together = Estimator(interval, clustering is not None, tuple(ks))
    distinct, shared = ledger.count_cases()
    if clustering is None and shared:
        # A case that is hard is so for each target: counted as several independent cases, it would
        # make the interval too narrow. To tell how far targets go together takes more than a hash.
        together = replace(apart, interval="sequence")
        without = without or (
            "intervals are shown per target; `report --cluster id` gives one for all"
        )
    unfinished = ledger.count_unfinished()

    def figure(cells: Iterable[FigureCell], by: Estimator = together) -> Slice:
        held = list(cells)
        return by.of_cases(held, sum(unfinished[cell] for cell in held))

    def by_name(cells: Cells) -> dict[str, Slice]:
        return {name: figure(cells[name].values()) for name in sorted(cells)}

    suites: dict[str, list[FigureCell]] = {}
    by_target: dict[str, list[FigureCell]] = {}
    for (suite, target), places in ledger.places.items():
        suites.setdefault(suite, []).extend(places.values())
        by_target.setdefault(target, []).extend(places.values())
    whole = figure(cell for cells in by_target.values() for cell in cells)
    if decision is not None:
        whole = replace(whole, rate=replace(whole.rate, low=decision.low, high=decision.high))
        without = ""
    named = dict.fromkeys([*(name for name in targets if name in by_target), *by_target])
    return Figures(
        whole, Effort.sum(ledger.efforts.values()),
        {name: figure(by_target[name], apart) for name in named},
        {name: Effort.sum([ledger.efforts[name]]) for name in named},
        {
            name: figure(suites[name], together if name in shared else apart)
            for name in sorted(suites)
        },
        by_name(ledger.tags),
        {name: together.of_grader([*cells.values()]) for name, cells in ledger.graders.items()},
        not_run, interval, clustering.path if clustering is not None else None,
        len(clustering.alone) if clustering is not None else 0, without,
        ledger.judging if ledger.judging.asked else None,
        {name: by_name(cells) for name, cells in ledger.variables.items()},
        tuple(ledger.crowded), distinct,
    )  # fmt: skip
