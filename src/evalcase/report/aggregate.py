"""Results with their cases in, in any order; the figures of the run out, and the cases that its
summary names.

A case at a target counts once all of its trials are there. Memory holds cases that lack trials,
eight bytes for each other case, and besides only what grows with suites, targets, tags, values of
variables, graders and clusters.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

from msgspec import Struct, field

from evalcase.errors import ConfigError
from evalcase.report.details import Telling, reason_of
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
    Verdict,
    decide_case_verdict,
)
from evalcase.types.value import Value, replace
from evalcase.util.json import JsonPath, MissingError
from evalcase.util.text import write_count

MOST_VALUES = 200
"""A variable with more values groups nothing: it may be another in each of a million rows."""
_LONGEST_VALUE = 100
_MARKS_AT_ONCE = 1 << 17

ClusterName = str | None
Sums = tuple[int, float, float]
"""The number of values, their sum, and the sum of their squares."""


def _add(sums: Sums, value: float, times: int = 1) -> Sums:
    count, total, squares = sums
    return count + times, total + times * value, squares + times * value * value


class FigureCell(Struct, eq=False):
    """Sums over cases at a target, or over one grader's grades; it does not grow with them."""

    cluster: ClusterName = None
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    """Cases by verdict; of a grader, its grades."""
    passed: Sums = (0, 0, 0)
    """Of each case that was tried whether it passed; of a grader, the share of grades that did."""
    without_errors: Sums = (0, 0, 0)
    scores: Sums = (0, 0, 0)
    """Of each case the mean score of its trials."""
    repeated: Counter[tuple[int, int]] = field(default_factory=Counter)
    """How many cases have several trials: so many, of which so many passed."""
    partial: bool = False

    def add_case(self, verdict: Verdict, trials: Sequence[Verdict]) -> None:
        self.verdicts[verdict] += 1
        if verdict == "skipped":
            return
        self.passed = _add(self.passed, verdict == "passed")
        if verdict != "errored":
            self.without_errors = _add(self.without_errors, verdict == "passed")
        if len(trials) > 1:
            self.repeated[len(trials), trials.count("passed")] += 1

    def add_grades(self, grades: Sequence[Verdict]) -> None:
        """Add those of a grader on a case."""
        self.verdicts.update(grades)
        passed, sure = grades.count("passed"), len(grades) - grades.count("errored")
        self.passed = _add(self.passed, passed / len(grades))
        if sure:
            self.without_errors = _add(self.without_errors, passed / sure)

    def add_scores(self, scores: Sequence[float]) -> None:
        if scores:
            self.scores = _add(self.scores, sum(scores) / len(scores))
            self.partial = self.partial or not {0.0, 1.0}.issuperset(scores)


Cells = dict[ClusterName, FigureCell]


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

    def slice(self, cells: Sequence[FigureCell], unfinished: Mapping[FigureCell, int]) -> Slice:
        """The figures of some cases."""
        rate, verdicts, is_partial, lacking = self._mean(cells, "passed"), Counter[Verdict](), 0, 0
        for cell in cells:
            verdicts.update(cell.verdicts)
            is_partial |= cell.partial
            lacking += unfinished.get(cell, 0)
        units = rate.n if rate.clusters is None else rate.clusters
        never_failed = rate.value == 1 and self.interval != "sequence"
        return Slice(
            Counts.of(verdicts), lacking, rate, self._mean(cells, "without_errors"),
            self._mean(cells, "scores"), self._repeats(cells), bool(is_partial),
            bound_unseen(units) if never_failed else None,
        )  # fmt: skip

    def _mean(self, cells: Iterable[FigureCell], name: str) -> Mean:
        return self._estimate([(cell.cluster, getattr(cell, name)) for cell in cells])

    def _estimate(self, sums: Iterable[tuple[ClusterName, Sums]]) -> Mean:
        count, total, squares = 0, 0.0, 0.0
        by_cluster: dict[ClusterName, Cluster] = {}
        for cluster, each in sums:
            if each[0]:
                count, total, squares = count + each[0], total + each[1], squares + each[2]
                cases, others = by_cluster.get(cluster, (0, 0.0))
                by_cluster[cluster] = Cluster(cases + each[0], others + each[1])
        clusters = None if self.cluster is None else len(by_cluster)
        if not count:
            return Mean(0, None, clusters=clusters)
        around = estimate_exact_around if self.interval == "exact" else estimate_around
        if self.interval == "sequence":
            found = None
        elif self.cluster is not None:
            found = estimate_clusters(by_cluster.values(), around)
        elif count > 1 and total == squares:  # only 0 and 1
            found = around(total / count, count)
        else:
            found = estimate_units(count, total, squares, around)
        if found is None:
            return Mean(count, clip_number(total / count), clusters=clusters)
        return Mean(count, *found, clusters)

    def _repeats(self, cells: Sequence[FigureCell]) -> Repeats | None:
        several = [each for cell in cells for each in cell.repeated.items()]
        if not several:
            return None
        fewest, most = min(several)[0][0], max(several)[0][0]
        shares, within, flaky = (0, 0.0, 0.0), 0.0, 0
        for (trials, passed), times in several:
            share = passed / trials
            shares = _add(shares, share, times)
            within += times * share * (1 - share) / (trials - 1)
            flaky += times if 0 < passed < trials else 0

        def average(chance: Callable[[int, int], float]) -> Mean:
            """The mean over cases of their chance, from their trials and those that passed."""
            return self._estimate(
                (cell.cluster, _add((0, 0.0, 0.0), chance(*counts), times))
                for cell in cells
                for counts, times in cell.repeated.items()
            )

        return Repeats(
            shares[0], fewest, most, average(lambda trials, passed: passed / trials), flaky,
            measure_spread(*shares, within),
            tuple(
                PassAt(k, average(partial(any_passes, k)), average(partial(all_pass, k)))
                for k in self.ks or (fewest,)
                if k <= fewest
            ),
        )  # fmt: skip


def rate_of(evaluated: Evaluated) -> Slice:
    """The rates that follow from the totals of a run alone; with the interval that does, if one
    does, or that of the decision that ended the run."""
    totals, decision = evaluated.totals, evaluated.decision
    cases, passed = totals.cases, totals.cases.passed
    tried = cases.total - cases.skipped
    cell = FigureCell(
        None, Counter({verdict: getattr(cases, verdict) for verdict in VERDICTS}),
        (tried, passed, passed), (tried - cases.errored, passed, passed),
    )  # fmt: skip
    holds = not (evaluated.is_biased or evaluated.is_shared or decision is not None)
    figuring = Figuring("wilson" if holds else "sequence")
    part = figuring.slice([cell], {cell: totals.unfinished})
    return part if decision is None else _decide_rate(part, decision)


def _decide_rate(part: Slice, decision: Decision) -> Slice:
    return replace(part, rate=replace(part.rate, low=decision.low, high=decision.high))


def variable_labels(case: Case | None) -> dict[str, str]:
    """The values of a case's variables that cases can be grouped by: short texts and numbers."""
    values = case._data.get("vars") if case is not None else None
    labels = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in (values.items() if isinstance(values, dict) else ())
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


class OpenCase(Struct, eq=False):
    """A case at a target, with those of its trials that have come."""

    cells: list[FigureCell]
    """What it is counted in: of its suite and target, its tags and variables."""
    outcome: Outcome
    cluster: ClusterName = None
    verdicts: list[Verdict] = []
    scores: list[float] = []
    grades: dict[str, tuple[list[Verdict], list[float]]] = {}
    """By grader, the verdicts and the scores of its grades."""
    telling: dict[Verdict, Telling] = {}
    """The first trial of each verdict, as far as one is noted."""


class Ledger:
    def __init__(self, figuring: Figuring | None = None) -> None:
        """Raise ConfigError where clusters are asked for by what is no path."""
        self.figuring = figuring = figuring or Figuring()
        self.places: dict[tuple[str, str], Cells] = {}
        """Cases by suite and target."""
        self.open: dict[tuple[str, str, str], OpenCase] = {}
        """Cases that lack trials."""
        self._clustering = None if figuring.cluster is None else Clustering(figuring.cluster)
        self._parts: dict[tuple[PartKind, str], Cells] = {}
        """Cases by tag, grades by grader, and cases by the value of each variable."""
        self._values: Counter[PartKind] = Counter()
        """How many values variables have. Those with too many are not counted."""
        self._efforts: dict[str, Effort] = {}
        """By target."""
        self._judging = Judging()
        self._marks: dict[str, array[int]] = {}
        """By suite, a hash of the case for each case at a target."""

    def add(self, result: Result, case: Case | None = None) -> OpenCase:
        """Add a result; return its case, with what that has come to. The case gives its tags and
        variables, and its cluster."""
        name, target = result.key[:3], result.key.target
        effort = self._efforts.get(target) or self._efforts.setdefault(target, Effort())
        effort.add(result)
        held = self.open.get(name)
        if held is None:
            held = self.open[name] = self._open_case(result, case)
        held.verdicts.append(result.verdict)
        # A score of a stranger's record may be any number.
        if (score := result.score) is not None:
            held.scores.append(min(max(score, 0.0), 1.0))
        for grade in result.grades:
            if grade.asked:
                self._judging.add(grade)
            verdicts, scores = held.grades.setdefault(grade.grader, ([], []))
            verdicts.append(grade.verdict)
            if grade.failure is None and grade.score is not None:
                scores.append(min(max(grade.score, 0.0), 1.0))
        trials, verdict = len(held.verdicts), None
        if trials >= result.repeats:
            del self.open[name]
            verdict = decide_case_verdict(held.verdicts, result.pass_rate)
            for cell in held.cells:
                cell.add_case(verdict, held.verdicts)
                cell.add_scores(held.scores)
            if held.scores:
                effort.add_score(sum(held.scores) / len(held.scores))
            for grader, (verdicts, scores) in held.grades.items():
                cell = _find_cell(self._parts, ("grader", grader), held.cluster)
                cell.add_grades(verdicts)
                cell.add_scores(scores)
        passed = held.verdicts.count("passed")
        held.outcome = Outcome(verdict, passed, trials, result.repeats, result.pass_rate)
        return held

    def add_verdict(self, suite: str, case: str, target: str, verdict: Verdict | None) -> None:
        cell = self._find_place(suite, case, target, None)
        if verdict is not None:
            cell.add_case(verdict, ())

    def _open_case(self, result: Result, case: Case | None) -> OpenCase:
        key = result.key
        cluster = self._clustering.find(result, case) if self._clustering is not None else None
        cells = [self._find_place(key.suite, key.case, key.target, cluster)]
        if case is not None and ("tags" in case._data or "vars" in case._data):
            for tag in dict.fromkeys(case._data.get("tags", ())):
                cells.append(_find_cell(self._parts, ("tag", tag), cluster))
            for name, label in variable_labels(case).items():
                kind = f"vars.{name}"
                self._values[kind] += (kind, label) not in self._parts
                if self._values[kind] <= MOST_VALUES:
                    cells.append(_find_cell(self._parts, (kind, label), cluster))
        return OpenCase(cells, Outcome(None, 0, 0), cluster)

    def _find_place(self, suite: str, case: str, target: str, cluster: ClusterName) -> FigureCell:
        marks = self._marks.get(suite)
        if marks is None:
            marks = self._marks[suite] = array("q")
        marks.append(hash(case))
        return _find_cell(self.places, (suite, target), cluster)

    def sum_up(self, evaluated: Evaluated | None = None, *, whole: bool = True) -> Figures:
        """All figures, targets in the order in which they were named. Where the results ended a run
        early, there is no interval but that of the decision, which is of the `whole` run. Raise
        ConfigError where no case is in a cluster, or cases have too few trials."""
        figuring, clustering, without, decision = self.figuring, self._clustering, "", None
        if clustering is not None:
            clustering.require_found()
        if evaluated is not None and (evaluated.is_biased or evaluated.decision is not None):
            figuring = replace(figuring, interval="sequence")
            without = "no interval: the results ended the run early"
            decision = evaluated.decision if whole else None
        named = evaluated.run.about.targets if evaluated is not None else ()
        by_target: dict[str, list[FigureCell]] = {name: [] for name in named}
        by_suite: defaultdict[str, list[FigureCell]] = defaultdict(list)
        for (suite, target), cells in self.places.items():
            by_suite[suite] += cells.values()
            by_target.setdefault(target, []).extend(cells.values())
        by_target = {name: cells for name, cells in by_target.items() if cells}
        together = apart = figuring
        distinct, shared = self._count_cases(several=len(by_target) > 1)
        if clustering is None and shared:
            # A case that is hard is so for each target: counted as several independent cases, it
            # would make the interval too narrow. To tell how far targets go together takes more
            # than a hash.
            together = replace(apart, interval="sequence")
            hint = "intervals are shown per target; `report --cluster id` gives one for all"
            without = without or hint
        unfinished = Counter([cell for case in self.open.values() for cell in case.cells])
        all_cases = together.slice(list(chain(*by_suite.values())), unfinished)
        if decision is not None:
            all_cases, without = _decide_rate(all_cases, decision), ""
        fewest = all_cases.repeats.fewest if all_cases.repeats is not None else 1
        if (k := max(self.figuring.ks, default=1)) > fewest:
            only = write_count(fewest, "trial")
            raise ConfigError(f"pass@{k} needs {k} trials, but some cases have only {only}")
        parts: defaultdict[PartKind, dict[str, Slice]] = defaultdict(dict)
        """By tag, by grader, and by the values of variables."""
        for (kind, name), by_cluster in self._parts.items():
            if self._values[kind] <= MOST_VALUES:
                parts[kind][name] = together.slice([*by_cluster.values()], unfinished)
        crowded = [kind for kind, count in self._values.items() if count > MOST_VALUES]
        return Figures(
            all_cases, Effort.sum(self._efforts.values()),
            {name: apart.slice(cells, unfinished) for name, cells in by_target.items()},
            {name: Effort.sum([self._efforts.get(name, Effort())]) for name in by_target},
            {
                name: (together if name in shared else apart).slice(by_suite[name], unfinished)
                for name in sorted(by_suite)
            },
            dict(sorted(parts["tag"].items())), parts["grader"],
            evaluated.not_run if evaluated is not None else 0,
            figuring.interval, figuring.cluster,
            len(clustering.alone) if clustering is not None else 0, without,
            self._judging if self._judging.asked else None,
            {
                kind.removeprefix("vars."): dict(sorted(values.items()))
                for kind, values in parts.items()
                if kind.startswith("vars.")
            },
            tuple(kind.removeprefix("vars.") for kind in crowded), distinct,
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


def _find_cell(
    parts: dict[tuple[str, str], Cells], name: tuple[str, str], cluster: ClusterName
) -> FigureCell:
    cells = parts.setdefault(name, {})
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


MOST_IN_FULL = 20
"""Cases of one verdict that are shown in full."""
_MOST_HELD = 1000
"""Cases whose verdicts by target are held."""
_MOST_SHAKY = 10
TROUBLED: tuple[Verdict | None, ...] = ("failed", "errored", "ungraded", None)
GridRow = tuple[str, dict[str, Verdict | None]]
"""A case and its verdict at each target; None if it lacks trials."""


class Highlights:
    """The cases of a run that its summary names: those that did not pass, flaky ones, and those
    that targets differ on. Memory grows with these up to limits, and no more with cases that
    passed. Their trials are in the record."""

    def __init__(
        self, shown: Collection[Verdict | None] = TROUBLED, figuring: Figuring | None = None
    ) -> None:
        """`shown` are the verdicts of cases to be shown; None is of undecided ones."""
        self.ledger = Ledger(figuring)
        self.shaky: list[Telling] = []
        """The first cases that passed although some of their trials did not; with why a trial of
        theirs errored, if one did."""
        self.more: Counter[Verdict | None] = Counter()
        """Cases of a verdict beyond those that are shown."""
        self.kept: list[str] = []
        """The workspaces that were left behind."""
        self._wanted = frozenset(shown)
        self._shown: defaultdict[Verdict | None, list[Telling]] = defaultdict(list)
        self._grid: dict[tuple[str, str], tuple[int, dict[str, Verdict | None]]] | None = {}
        """By suite and case, its number and its verdicts by target; None if there are too many."""

    def add(self, result: Result, case: Case | None = None) -> OpenCase:
        """Add a result, with its case if that has tags; return its case."""
        held, key = self.ledger.add(result, case), result.key
        outcome, verdict = held.outcome, result.verdict
        if (kept := result.kept) is not None:
            self.kept.append(kept)
        if (grid := self._grid) is not None:
            grid.setdefault(key[:2], (result.number, {}))[1][key.target] = outcome.verdict
            self._grid = grid if len(grid) <= _MOST_HELD else None
        if verdict not in held.telling and (verdict != "passed" or verdict in self._wanted):
            held.telling[verdict] = Telling(key, outcome, reason_of(result), result.number)
        if outcome.verdict is None or not held.telling:
            return held
        if outcome.verdict == "passed" and outcome.passed < outcome.trials:
            errored = held.telling.get("errored")
            why = errored.why if errored is not None else ""
            if len(self.shaky) < _MOST_SHAKY:
                self.shaky.append(Telling(key, outcome, why))
        told = held.telling.get(outcome.verdict) or next(iter(held.telling.values()))
        told.outcome = outcome
        if outcome.verdict in self._wanted:
            self._show(told, outcome.verdict)
        return held

    def finish(self) -> None:
        """No result follows: what is undecided stays so."""
        for held in self.ledger.open.values() if None in self._wanted else ():
            bad = (told for verdict, told in held.telling.items() if verdict != "passed")
            if (told := next(bad, None)) is not None:
                told.outcome = held.outcome
                self._show(told, None)

    def _show(self, told: Telling, verdict: Verdict | None) -> None:
        shown = self._shown[verdict]
        if verdict == "errored":
            # A missing key is shown once, not 300 times.
            like = next((each for each in shown if each.why == told.why), None)
            if like is not None:
                like.same += 1
                return
        if len(shown) < MOST_IN_FULL:
            shown.append(told)
        else:
            self.more[verdict] += 1

    def shown(self, verdict: Verdict | None) -> list[Telling]:
        return sorted(self._shown[verdict], key=lambda each: (each.number, each.key.target))

    def differing(self, see_suite: Callable[[str], str] = str) -> list[GridRow]:
        """The cases that targets differ on, in order; none if the run has too many cases."""
        grid = self._grid or {}
        several = len({suite for suite, _ in grid}) > 1
        return [
            (f"{see_suite(suite)}: {case}" if several else case, verdicts)
            for (suite, case), (_, verdicts) in sorted(grid.items(), key=lambda each: each[1][0])
            if len(set(verdicts.values())) > 1
        ]

    def count_sound(self) -> tuple[int, int] | None:
        """Of `run --oracle`: the cases that passed at both targets, of those that were checked;
        None if there are too many."""
        if self._grid is None:
            return None
        checked = [set(said.values()) for _, said in self._grid.values() if said]
        checked = [said for said in checked if said != {"skipped"}]
        return sum(said == {"passed"} for said in checked), len(checked)
