"""What is reported of a kept run: all of its results, or those of a case, a target or a verdict."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.cli.conclusion import RecordPlace
from evalcase.cli.reports.by_parts import require_variables
from evalcase.errors import ConfigError
from evalcase.report.details import UNFINISHED
from evalcase.report.figures import Figures, settle_figures
from evalcase.report.highlights import Highlights
from evalcase.report.summary import PART_KINDS, PartKind
from evalcase.report.terminal import Screen
from evalcase.runner.evaluated import Evaluated, Figuring, read_evaluated
from evalcase.store.index import Tally
from evalcase.store.stored import StoredRun
from evalcase.types.problem import did_you_mean
from evalcase.types.result import Result
from evalcase.types.value import Value, fits_pattern, replace

MAX_SIZE = 50_000_000
"""Unless another is asked for: browsers open it in a second."""
_MOST_KNOWN = 10_000
"""Names that are remembered in case that the one which was asked for is not among them."""


class Wanted(Value, frozen=True):
    """Which results of a run are reported."""

    case: str | None = None
    target: str | None = None
    verdicts: tuple[str, ...] = ()
    """Of cases."""

    @property
    def is_all(self) -> bool:
        """Whether every case is counted. A verdict that is asked for changes no count: all of those
        that passed are no pass rate."""
        return self.case is None and self.target is None

    def describe(self) -> str:
        """Which cases are counted, in words; empty where all are."""
        said = [f"case {self.case}"] if self.case is not None else []
        return ", ".join([*said, *([f"target {self.target}"] if self.target is not None else [])])

    def includes(self, case: str) -> bool:
        """Whether a case is meant: by its id, or by a glob as `run --case` takes it."""
        return self.case is None or fits_pattern(case, self.case)


class Reported(Value, frozen=True):
    """A run that is reported, and for whom."""

    kept: StoredRun
    place: RecordPlace
    wanted: Wanted = Wanted()
    screen: Screen = Screen()
    figuring: Figuring = Figuring()
    by: tuple[PartKind, ...] = PART_KINDS
    """Of which parts the rates are shown."""
    is_own: bool = True
    """Whether whom it is for made it, and may go on with it."""
    max_size: int = MAX_SIZE
    """Bytes that a page may have, where it can be kept to that."""
    verbose: bool = False
    junit_properties: bool = False
    """Whether test cases of JUnit have properties."""

    def figures(self, statistics: Highlights | None = None) -> Figures:
        """Those of all results that count; statistics are filled on the way. Raise ConfigError
        where the run hasn't got them."""
        statistics = statistics or self.open_statistics()
        evaluated = self.evaluated(statistics)
        figures = self.figuring.sum_up(statistics.ledger, evaluated.not_run)
        require_variables(self.by, figures)
        return settle_figures(
            figures, evaluated.decision, whole=self.wanted.is_all,
            is_biased=evaluated.is_biased,
        )  # fmt: skip

    def open_statistics(self) -> Highlights:
        """Those of a report that shows no case by them."""
        return Highlights((), self.figuring.open_ledger(self.kept.run))

    def evaluated(self, statistics: Highlights | None = None) -> Evaluated:
        """What came of the run, or of a case or a target; statistics are filled on the way."""
        evaluated = read_evaluated(self.kept)
        if statistics is None and self.wanted.is_all:
            return evaluated
        tally, find = Tally(), self.figuring.finder(self.kept)
        for result in replace(self, wanted=replace(self.wanted, verdicts=())).results():
            tally.add(result)
            if statistics is not None:
                statistics.add(result, find(*result.key[:2]))
        return evaluated if self.wanted.is_all else replace(
            evaluated, totals=tally.totals(), not_run=0
        )  # fmt: skip

    def results(self) -> Iterator[Result]:
        """The results that are wanted. Raise ConfigError if a name is not one of the run's."""
        wanted, count = self.wanted, 0
        cases: dict[str, bool] = {}
        targets: dict[str, bool] = {}
        for result in self.kept.results():
            key = result.key
            if len(cases) < _MOST_KNOWN:
                cases[key.case] = True
            targets[key.target] = True
            if not wanted.includes(key.case) or wanted.target not in (None, key.target):
                continue
            count += 1
            if not wanted.verdicts or self._verdict(result) in wanted.verdicts:
                yield result
        if not count and not wanted.is_all:
            raise ConfigError(
                _explain_missing(self.kept.run.id, wanted, list(cases), list(targets))
            )

    def _verdict(self, result: Result) -> str:
        return self.kept.outcome(result).verdict or UNFINISHED


def _explain_missing(run: str, wanted: Wanted, cases: list[str], targets: list[str]) -> str:
    for noun, name, known in (("case", wanted.case, cases), ("target", wanted.target, targets)):
        if name is not None and not any(fits_pattern(each, name) for each in known):
            is_varied = any(each.startswith(f"{name}:") for each in known)
            variants = f"it only has variants: use `{name}:*`"
            hint = variants if is_varied else did_you_mean(name, known)
            return f"run {run} has no {noun} `{name}`{f'; {hint}' if hint else ''}"
    return f"case `{wanted.case}` was not run at `{wanted.target}` in run {run}"
