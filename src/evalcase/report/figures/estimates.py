"""Cells in, figures with their intervals out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from evalcase.report.figures.cell import ClusterName, FigureCell, TrialCounts
from evalcase.report.figures.figures import Interval, Mean, PassAt, Repeats, Slice, Spread
from evalcase.stats.intervals import Estimate, bound_unseen, clip_number, estimate_around
from evalcase.types.result import Counts, Totals, Verdict
from evalcase.types.value import Value

_Counted = Callable[[int, int, int], float | None]
"""What trials of a case count for, from how often it was tried, passed and errored."""


def rate_totals(totals: Totals) -> Slice:
    """What can be said of a run of which only the totals are known: its rates."""
    return Estimator().of_cases([_cell_of(totals)], totals.unfinished)


def pass_rate_of(totals: Totals) -> Mean:
    """The first of these rates alone: a list has it for each of a thousand runs."""
    return Estimator().rate([_cell_of(totals)])


def _cell_of(totals: Totals) -> FigureCell:
    cell, cases = FigureCell(), totals.cases
    cell.verdicts = {
        "passed": cases.passed, "failed": cases.failed, "errored": cases.errored,
        "ungraded": cases.ungraded, "skipped": cases.skipped,
    }  # fmt: skip
    return cell


class Sums:
    """What a mean needs of values: how many, their sum, the sum of their squares."""

    __slots__ = ("count", "squares", "total")

    def __init__(self, count: int = 0, total: float = 0.0, squares: float = 0.0) -> None:
        self.count = count
        self.total = total
        self.squares = squares

    def add(self, value: float, times: int) -> None:
        self.count += times
        self.total += times * value
        self.squares += times * value * value

    def take(self, other: Sums) -> None:
        self.count += other.count
        self.total += other.total
        self.squares += other.squares


class Estimator(Value, frozen=True):
    """Makes figures of cells."""

    interval: Interval = "wilson"
    clustered: bool = False
    """Whether cases of a cluster are taken together; else each counts for itself."""
    ks: tuple[int, ...] = ()
    """The k of pass@k; without any, as many as each case was tried."""

    def of_cases(self, cells: Sequence[FigureCell], unfinished: int = 0) -> Slice:
        rate = self.rate(cells)
        return Slice(
            _count_verdicts(cells), unfinished, rate,
            self._mean(cells, _rated_without_errors), self._score(cells),
            self._repeats(cells), _is_partial(cells), _failures_up_to(rate),
        )  # fmt: skip

    def rate(self, cells: Sequence[FigureCell]) -> Mean:
        """The share of cases that passed."""
        return self._mean(cells, _rate_cell)

    def of_grader(self, cells: Sequence[FigureCell]) -> Slice:
        """Of each case counts the share of its grades that passed."""
        rate = self._mean_of(cells, _share_of_trials)
        without_errors = self._mean_of(cells, _share_without_errors)
        return Slice(
            _count_verdicts(cells), 0, rate, without_errors, self._score(cells),
            None, _is_partial(cells), _failures_up_to(rate),
        )  # fmt: skip

    def _mean(self, cells: Iterable[FigureCell], sum_up: Callable[[FigureCell], Sums]) -> Mean:
        """Of values, added up by cluster."""
        by_cluster: dict[ClusterName, Sums] = {}
        for cell in cells:
            by_cluster.setdefault(cell.cluster, Sums()).take(sum_up(cell))
        held = [sums for sums in by_cluster.values() if sums.count]
        count = sum(sums.count for sums in held)
        clusters = len(held) if self.clustered else None
        if not count:
            return Mean(0, None, clusters=clusters)
        found = self._estimate(held, count)
        if found is None:
            value = clip_number(sum(sums.total for sums in held) / count)
            return Mean(count, value, clusters=clusters)
        return Mean(count, *found, clusters)

    def _estimate(self, held: Sequence[Sums], count: int) -> Estimate | None:
        around = self._around()
        if self.clustered:
            from evalcase.stats.intervals import Cluster as Members
            from evalcase.stats.intervals import estimate_clusters

            return estimate_clusters((Members(each.count, each.total) for each in held), around)
        total, squares = sum(each.total for each in held), sum(each.squares for each in held)
        if total == squares:  # nothing but 0 and 1: that is counted
            return around(total / count, count) if count > 1 else None
        from evalcase.stats.intervals import estimate_units

        return estimate_units(count, total, squares, around)

    def _around(self) -> Callable[[float, float], Estimate]:
        if self.interval == "wilson":
            return estimate_around
        from evalcase.stats.intervals import estimate_exact_around

        return estimate_exact_around

    def _score(self, cells: Sequence[FigureCell]) -> Mean:
        return self._mean(cells, lambda cell: Sums(cell.scored, cell.scores, cell.squares))

    def _mean_of(self, cells: Sequence[FigureCell], value: _Counted, fewest: int = 1) -> Mean:
        """Of what the trials of each case count for; of cases that have at least so many."""
        return self._mean(cells, lambda cell: _sum_up(cell, value, fewest))

    def _repeats(self, cells: Sequence[FigureCell]) -> Repeats | None:
        several = [each for cell in cells for each in cell.trials.items()]
        if not several:
            return None
        tried = [trials[0] for trials, _ in several]
        fewest = min(tried)
        return Repeats(
            sum(times for _, times in several), fewest, max(tried),
            self._mean_of(cells, _share_of_trials, 2),
            sum(times for (count, passed, _), times in several if 0 < passed < count),
            _spread_of_passes(several), _spread_of_scores(cells),
            tuple(self._pass_at(cells, k) for k in self.ks or (fewest,) if k <= fewest),
        )  # fmt: skip

    def _pass_at(self, cells: Sequence[FigureCell], k: int) -> PassAt:
        from evalcase.stats.intervals import all_pass, any_passes

        return PassAt(
            k,
            self._mean_of(cells, lambda tried, passed, _: any_passes(k, tried, passed), 2),
            self._mean_of(cells, lambda tried, passed, _: all_pass(k, tried, passed), 2),
        )


def _share_of_trials(tried: int, passed: int, errored: int) -> float:
    del errored
    return passed / tried


def _share_without_errors(tried: int, passed: int, errored: int) -> float | None:
    return passed / (tried - errored) if tried > errored else None


def _sum_up(cell: FigureCell, value: _Counted, fewest: int) -> Sums:
    sums = Sums()
    for trials, times in _count_trials(cell):
        if trials[0] >= fewest and (counted := value(*trials)) is not None:
            sums.add(counted, times)
    return sums


def _rate_cell(cell: FigureCell) -> Sums:
    """Cases by their verdicts: those that were tried, and passed."""
    verdicts = _count_verdicts([cell])
    return Sums(verdicts.total - verdicts.skipped, verdicts.passed, verdicts.passed)


def _rated_without_errors(cell: FigureCell) -> Sums:
    verdicts = _count_verdicts([cell])
    tried = verdicts.total - verdicts.skipped - verdicts.errored
    return Sums(tried, verdicts.passed, verdicts.passed)


def _count_verdicts(cells: Sequence[FigureCell]) -> Counts:
    verdicts: Counter[Verdict] = Counter()
    for cell in cells:
        verdicts.update(cell.once)
        verdicts.update(cell.verdicts)
    return Counts.of(verdicts)


def _is_partial(cells: Iterable[FigureCell]) -> bool:
    return any(cell.partial for cell in cells)


def _failures_up_to(rate: Mean) -> float | None:
    units = rate.n if rate.clusters is None else rate.clusters
    return bound_unseen(units) if rate.value == 1 else None


def _count_trials(cell: FigureCell) -> Iterator[tuple[TrialCounts, int]]:
    """How many cases have such trials."""
    for verdict, times in cell.once.items():
        if verdict != "skipped":
            yield (1, int(verdict == "passed"), int(verdict == "errored")), times
    yield from cell.trials.items()


def _spread_of_passes(several: Sequence[tuple[TrialCounts, int]]) -> Spread:
    sums, within = Sums(), 0.0
    for (tried, passed, _), times in several:
        share = passed / tried
        sums.add(share, times)
        within += times * share * (1 - share) / (tried - 1)
    return _make_spread(sums, within)


def _spread_of_scores(cells: Sequence[FigureCell]) -> Spread:
    sums = Sums(
        sum(cell.repeated for cell in cells),
        sum(cell.spread[0] for cell in cells),
        sum(cell.spread[1] for cell in cells),
    )
    return _make_spread(sums, sum(cell.within for cell in cells))


def _make_spread(sums: Sums, within: float) -> Spread:
    from evalcase.stats.intervals import measure_spread

    found = measure_spread(sums.count, sums.total, sums.squares, within)
    return Spread() if found is None else Spread(*found)
