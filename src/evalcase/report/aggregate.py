"""Results with their cases in, in any order; the figures of the run out.

A case at a target counts once all of its trials are there. Memory holds cases that lack trials,
eight bytes for each other case, and besides only what grows with suites, targets, tags, values of
variables, graders and clusters.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter

from msgspec import Struct, field

from evalcase.errors import ConfigError
from evalcase.report.evaluated import Evaluated
from evalcase.report.figures import (
    Effort,
    Figures,
    Interval,
    Judging,
    Mean,
    PartKind,
    PassAt,
    Repeats,
    Slice,
)
from evalcase.stats.intervals import (
    Cluster,
    all_pass,
    any_passes,
    bound_unseen,
    clip_number,
    estimate_around,
    estimate_clusters,
    estimate_exact_around,
    estimate_units,
    measure_spread,
)
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.result import (
    VERDICTS,
    Counts,
    Decision,
    Outcome,
    Result,
    Totals,
    Verdict,
    decide_case_verdict,
)
from evalcase.types.value import Value, replace
from evalcase.util.json import JsonPath, MissingError
from evalcase.util.table import mark_of
from evalcase.util.text import write_count

MOST_VALUES = 200
"""A variable with more values groups nothing: it may be another in each of a million rows."""
_LONGEST_VALUE = 100
_MARKS_AT_ONCE = 1 << 17

TrialCounts = tuple[int, int, int]
"""Trials of a case, or grades of a grader on a case: all, passed, errored."""
ClusterName = str | None


class Figuring(Value, frozen=True):
    """How figures are estimated."""

    interval: Interval = "wilson"
    cluster: str | None = None
    """The path to what cases have in common that tend to come out alike."""
    ks: tuple[int, ...] = ()
    """The k of pass@k and pass^k; without any, as many as the case with the fewest trials has."""

    def finder(self, stored: StoredRun) -> Callable[[str, str], Case | None]:
        """Finds cases, where more is needed than results."""
        return stored.find_tagged if self.cluster is None else stored.find_case


class Sums(Struct):
    """The number of values, their sum, and the sum of their squares."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float, times: int = 1) -> None:
        self.count += times
        self.total += times * value
        self.squares += times * value * value

    def take(self, other: Sums) -> None:
        self.count += other.count
        self.total += other.total
        self.squares += other.squares


class FigureCell(Struct, eq=False):
    """Sums over cases at a target, or over one grader's grades; it does not grow with them."""

    cluster: ClusterName = None
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    """Cases by verdict; of a grader, its grades."""
    trials: Counter[TrialCounts] = field(default_factory=Counter)
    """How many cases have such trials, skipped ones left out."""
    scores: Sums = field(default_factory=Sums)
    """Of each case the mean score of its trials."""
    partial: bool = False

    def add(
        self, counted: Iterable[Verdict], trials: Sequence[Verdict], scores: Sequence[float]
    ) -> None:
        """Add a case by its verdict, or the grades of a grader on it; its trials, and the scores
        that they have."""
        self.verdicts.update(counted)
        if "skipped" not in trials:
            self.trials[len(trials), trials.count("passed"), trials.count("errored")] += 1
        if scores:
            self.scores.add(sum(scores) / len(scores))
            self.partial = self.partial or not {0.0, 1.0}.issuperset(scores)


Cells = dict[ClusterName, FigureCell]


class Estimator(Value, frozen=True):
    interval: Interval = "wilson"
    clustered: bool = False
    ks: tuple[int, ...] = ()

    def slice(
        self, cells: Sequence[FigureCell], unfinished: int = 0, *, of_grader: bool = False
    ) -> Slice:
        """The figures of some cases. To a grader, each case counts by the share of its grades that
        passed."""
        passes = _sum_shares if of_grader else _sum_verdicts
        rate = self._mean(cells, passes)
        units = rate.n if rate.clusters is None else rate.clusters
        never_failed = rate.value == 1 and self.interval != "sequence"
        verdicts: Counter[Verdict] = Counter()
        is_partial = False
        for cell in cells:
            verdicts.update(cell.verdicts)
            is_partial = is_partial or cell.partial
        return Slice(
            Counts.of(verdicts), unfinished, rate,
            self._mean(cells, partial(passes, errors=False)),
            self._mean(cells, attrgetter("scores")), None if of_grader else self._repeats(cells),
            is_partial, bound_unseen(units) if never_failed else None,
        )  # fmt: skip

    def _mean(self, cells: Iterable[FigureCell], sum_cell: Callable[[FigureCell], Sums]) -> Mean:
        whole, by_cluster = Sums(), defaultdict[ClusterName, Sums](Sums)
        for cell in cells:
            sums = sum_cell(cell)
            if sums.count:
                whole.take(sums)
                by_cluster[cell.cluster].take(sums)
        count, clusters = whole.count, len(by_cluster) if self.clustered else None
        if not count:
            return Mean(0, None, clusters=clusters)
        around = estimate_exact_around if self.interval == "exact" else estimate_around
        if self.interval == "sequence":
            found = None
        elif self.clustered:
            groups = (Cluster(each.count, each.total) for each in by_cluster.values())
            found = estimate_clusters(groups, around)
        elif count > 1 and whole.total == whole.squares:  # only 0 and 1
            found = around(whole.total / count, count)
        else:
            found = estimate_units(count, whole.total, whole.squares, around)
        if found is None:
            return Mean(count, clip_number(whole.total / count), clusters=clusters)
        return Mean(count, *found, clusters)

    def _repeats(self, cells: Sequence[FigureCell]) -> Repeats | None:
        several = [each for cell in cells for each in cell.trials.items() if each[0][0] > 1]
        if not several:
            return None
        tried = [trials[0] for trials, _ in several]
        fewest, flaky = min(tried), 0
        shares, within = Sums(), 0.0
        for (count, passed, _), times in several:
            share = passed / count
            shares.add(share, times)
            within += times * share * (1 - share) / (count - 1)
            flaky += times if 0 < passed < count else 0
        return Repeats(
            shares.count, fewest, max(tried), self._mean(cells, partial(_sum_shares, fewest=2)),
            flaky, measure_spread(shares.count, shares.total, shares.squares, within),
            tuple(
                PassAt(
                    k, self._mean(cells, partial(_sum_chances, chance=partial(any_passes, k))),
                    self._mean(cells, partial(_sum_chances, chance=partial(all_pass, k))),
                )
                for k in self.ks or (fewest,)
                if k <= fewest
            ),
        )  # fmt: skip


def _sum_shares(cell: FigureCell, *, errors: bool = True, fewest: int = 1) -> Sums:
    """Of each case with at least so many trials, the share of them that passed."""
    sums = Sums()
    for (trials, passed, errored), times in cell.trials.items():
        tried = trials if errors else trials - errored
        if trials >= fewest and tried:
            sums.add(passed / tried, times)
    return sums


def _sum_chances(cell: FigureCell, chance: Callable[[int, int], float]) -> Sums:
    """Of each case with several trials, its chance in fewer trials."""
    sums = Sums()
    for (trials, passed, _), times in cell.trials.items():
        if trials > 1:
            sums.add(chance(trials, passed), times)
    return sums


def _sum_verdicts(cell: FigureCell, *, errors: bool = True) -> Sums:
    """Cases that were tried, and those that passed."""
    verdicts = cell.verdicts
    left_out = verdicts["skipped"] + (0 if errors else verdicts["errored"])
    return Sums(verdicts.total() - left_out, verdicts["passed"], verdicts["passed"])


def rate_totals(
    totals: Totals, interval: Interval = "wilson", decision: Decision | None = None
) -> Slice:
    """The rates that follow from the totals of a run alone; with the interval of a decision, where
    one ended the run."""
    cell, cases = FigureCell(), totals.cases
    cell.verdicts.update({verdict: getattr(cases, verdict) for verdict in VERDICTS})
    part = Estimator("sequence" if decision else interval).slice([cell], totals.unfinished)
    return part if decision is None else _decide_rate(part, decision)


def _decide_rate(part: Slice, decision: Decision) -> Slice:
    return replace(part, rate=replace(part.rate, low=decision.low, high=decision.high))


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
        """Raise ConfigError if it is no path."""
        self.path = path
        self.alone: set[str] = set()
        self._is_found = False
        try:
            self._path = JsonPath(path)
        except ValueError as error:
            raise ConfigError(f"`{path}` can't be a cluster: {error}") from None

    def find(self, result: Result, case: Case | None) -> str:
        try:
            value = self._path.find(case._data if case is not None else {})
        except MissingError:
            value = None
        if value is None:
            name = json.dumps([result.key.suite, result.key.case])
            self.alone.add(name)
            return f" {name}"  # the JSON of a value never begins with a blank
        self._is_found = True
        return json.dumps(value, sort_keys=True)

    def require_found(self) -> None:
        """Raise ConfigError if no case has a value there."""
        if not self._is_found:
            raise ConfigError(f"no case has a value at `{self.path}` to cluster by")


class _OpenCase(Struct):
    """A case at a target, with those of its trials that have come."""

    cells: list[FigureCell]
    cluster: ClusterName
    verdicts: list[Verdict] = []
    scores: list[float] = []
    grades: dict[str, tuple[list[Verdict], list[float]]] = {}
    """By grader, the verdicts and the scores of its grades."""


def _bound_score(score: float) -> float:
    """A score within 0 to 1: one of a stranger's record may be any number."""
    return 0.0 if score < 0.0 else min(score, 1.0)


class Ledger:
    def __init__(self, figuring: Figuring | None = None) -> None:
        """Raise ConfigError where clusters are asked for by what is no path."""
        self.figuring = figuring = figuring or Figuring()
        self.places: defaultdict[tuple[str, str], Cells] = defaultdict(dict)
        """Cases by suite and target."""
        self._clustering = None if figuring.cluster is None else Clustering(figuring.cluster)
        self._parts: defaultdict[PartKind, defaultdict[str, Cells]]
        self._parts = defaultdict(lambda: defaultdict(dict))
        """Cases by tag, grades by grader, and cases by the value of each variable."""
        self._crowded: set[str] = set()
        """Variables with too many values; they are not counted."""
        self._efforts: defaultdict[str, Effort] = defaultdict(Effort)
        """By target."""
        self._judging = Judging()
        self._marks: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        """By suite, a hash of the case for each case at a target."""
        self._open: dict[tuple[str, str, str], _OpenCase] = {}

    def add(self, result: Result, case: Case | None = None) -> Outcome:
        """Add a result; return what its case has come to. The case gives its tags and variables,
        and its cluster."""
        name, effort = result.key[:3], self._efforts[result.key.target]
        effort.add(result)
        held = self._open.get(name)
        if held is None:
            held = self._open[name] = self._open_case(result, case)
        held.verdicts.append(result.verdict)
        if (score := result.score) is not None:
            held.scores.append(_bound_score(score))
        for grade in result.grades:
            if grade.asked:
                self._judging.add(grade)
            verdicts, scores = held.grades.setdefault(grade.grader, ([], []))
            verdicts.append(grade.verdict)
            if grade.failure is None and grade.score is not None:
                scores.append(_bound_score(grade.score))
        trials, verdict = len(held.verdicts), None
        if trials >= result.repeats:
            del self._open[name]
            verdict = decide_case_verdict(held.verdicts, result.pass_rate)
            for cell in held.cells:
                cell.add((verdict,), held.verdicts, held.scores)
            if held.scores:
                effort.add_score(sum(held.scores) / len(held.scores))
            for grader, (verdicts, scores) in held.grades.items():
                cell = _find_cell(self._parts["grader"][grader], held.cluster)
                cell.add(verdicts, verdicts, scores)
        passed = held.verdicts.count("passed")
        return Outcome(verdict, passed, trials, result.repeats, result.pass_rate)

    def add_verdict(self, suite: str, case: str, target: str, verdict: Verdict | None) -> None:
        cell = self._find_place(suite, case, target, None)
        if verdict is not None:
            cell.verdicts[verdict] += 1

    def _open_case(self, result: Result, case: Case | None) -> _OpenCase:
        """A new case, with the cells that it is counted in: of its suite and target, its tags and
        variables."""
        key = result.key
        cluster = self._clustering.find(result, case) if self._clustering is not None else None
        cells = [self._find_place(key.suite, key.case, key.target, cluster)]
        if case is not None and ("tags" in case._data or "vars" in case._data):
            for tag in dict.fromkeys(case._data.get("tags", ())):
                cells.append(_find_cell(self._parts["tag"][tag], cluster))
            for name, label in variable_labels(case).items():
                if name in self._crowded:
                    continue
                values = self._parts[f"vars.{name}"]
                cells.append(_find_cell(values[label], cluster))
                if len(values) > MOST_VALUES:
                    self._crowded.add(name)
                    del self._parts[f"vars.{name}"]
        return _OpenCase(cells, cluster)

    def _find_place(self, suite: str, case: str, target: str, cluster: ClusterName) -> FigureCell:
        self._marks[suite].append(mark_of(case))
        return _find_cell(self.places[suite, target], cluster)

    def sum_up(self, evaluated: Evaluated | None = None, *, whole: bool = True) -> Figures:
        """All figures, targets in the order in which they were named. Where the results ended a run
        early, there is no interval but that of the decision, which is of the `whole` run. Raise
        ConfigError where no case is in a cluster, or cases have too few trials."""
        interval, clustering, without, decision = self.figuring.interval, self._clustering, "", None
        if clustering is not None:
            clustering.require_found()
        if evaluated is not None and (evaluated.is_biased or evaluated.decision is not None):
            interval, without = "sequence", "no interval: the results ended the run early"
            decision = evaluated.decision if whole else None
        named = evaluated.run.about.targets if evaluated is not None else ()
        by_target: dict[str, list[FigureCell]] = {name: [] for name in named}
        by_suite: defaultdict[str, list[FigureCell]] = defaultdict(list)
        for (suite, target), cells in self.places.items():
            by_suite[suite] += cells.values()
            by_target.setdefault(target, []).extend(cells.values())
        apart = together = Estimator(interval, clustering is not None, self.figuring.ks)
        distinct, shared = self._count_cases(several=sum(map(bool, by_target.values())) > 1)
        if clustering is None and shared:
            # A case that is hard is so for each target: counted as several independent cases, it
            # would make the interval too narrow. To tell how far targets go together takes more
            # than a hash.
            together = replace(apart, interval="sequence")
            hint = "intervals are shown per target; `report --cluster id` gives one for all"
            without = without or hint
        unfinished = Counter(cell for case in self._open.values() for cell in case.cells)

        def figure(cells: Sequence[FigureCell], by: Estimator = together) -> Slice:
            return by.slice(cells, sum(unfinished[cell] for cell in cells))

        def by_name(parts: Mapping[str, Cells]) -> dict[str, Slice]:
            return {name: figure([*parts[name].values()]) for name in sorted(parts)}

        all_cases = figure([cell for cells in by_suite.values() for cell in cells])
        if decision is not None:
            all_cases, without = _decide_rate(all_cases, decision), ""
        fewest = all_cases.repeats.fewest if all_cases.repeats is not None else 1
        if (k := max(self.figuring.ks, default=1)) > fewest:
            only = write_count(fewest, "trial")
            raise ConfigError(f"pass@{k} needs {k} trials, but some cases have only {only}")
        tags, graders = self._parts["tag"], self._parts["grader"]
        return Figures(
            all_cases, Effort.sum(self._efforts.values()),
            {name: figure(cells, apart) for name, cells in by_target.items() if cells},
            {name: Effort.sum([self._efforts[name]]) for name, cells in by_target.items() if cells},
            {
                name: figure(by_suite[name], together if name in shared else apart)
                for name in sorted(by_suite)
            },
            by_name(tags),
            {
                name: together.slice([*cells.values()], of_grader=True)
                for name, cells in graders.items()
            },
            evaluated.not_run if evaluated is not None else 0, interval, self.figuring.cluster,
            len(clustering.alone) if clustering is not None else 0, without,
            self._judging if self._judging.asked else None,
            {
                kind.removeprefix("vars."): by_name(parts)
                for kind, parts in self._parts.items()
                if kind.startswith("vars.")
            },
            tuple(self._crowded), distinct,
        )  # fmt: skip

    def _count_cases(self, *, several: bool) -> tuple[int, set[str]]:
        """The number of cases, each once whatever its targets; and the suites with a case that has
        several targets."""
        distinct, shared = 0, set[str]()
        for suite, marks in self._marks.items():
            count = len(marks)
            if several:
                # By parts: a set of a million numbers would take more memory than a run.
                parts = 1 + count // _MARKS_AT_ONCE
                count = sum(len({m for m in marks if m % parts == n}) for n in range(parts))
            distinct += count
            if count < len(marks):
                shared.add(suite)
        return distinct, shared


def _find_cell(cells: Cells, cluster: ClusterName) -> FigureCell:
    if cluster not in cells:
        cells[cluster] = FigureCell(cluster)
    return cells[cluster]


def read_figures(evaluated: Evaluated, figuring: Figuring) -> Figures:
    """Those of all results of a run. Raise ConfigError where the run hasn't got them."""
    ledger = Ledger(figuring)
    with StoredRun(evaluated.run, evaluated.grading) as stored:
        find = figuring.finder(stored)
        for result in stored.results():
            ledger.add(result, find(*result.key[:2]))
    return ledger.sum_up(evaluated)
