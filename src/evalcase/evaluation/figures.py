"""The figures of a run from its record: what is asked for, as far as the run has it."""

from __future__ import annotations

from collections.abc import Callable

from evalcase.errors import ConfigError
from evalcase.evaluation.evaluated import Evaluated
from evalcase.report.figures.figures import Figures, Interval
from evalcase.report.figures.ledger import Ledger
from evalcase.store.folder import Run
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.value import Value
from evalcase.util.text import write_count


class Figuring(Value, frozen=True):
    """How figures are estimated."""

    interval: Interval = "wilson"
    cluster: str | None = None
    """The path to what cases have in common that tend to come out alike."""
    ks: tuple[int, ...] = ()
    """The k of pass@k and pass^k."""

    def open_ledger(self, run: Run) -> Ledger:
        """What the results of a run are added up in. Raise ConfigError where clusters are asked for
        by what is no path."""
        if self.cluster is None:
            targets = run.about.targets
            return Ledger(several_targets=len(targets) > 1, targets=targets)
        from evalcase.report.figures.clustering import Clustering

        try:
            return Ledger(Clustering(self.cluster), targets=run.about.targets)
        except ValueError as error:
            raise ConfigError(f"`{self.cluster}` can't be a cluster: {error}") from None

    def finder(self, kept: StoredRun) -> Callable[[str, str], Case | None]:
        """What finds the cases of which more is read than their results."""
        return kept.find_tagged if self.cluster is None else kept.find_case

    def sum_up(self, ledger: Ledger, not_run: int) -> Figures:
        """Raise ConfigError where no case is in a cluster, or cases have too few trials."""
        from evalcase.report.figures.summing import sum_up

        clustering = ledger.clustering
        if clustering is not None and not clustering.found:
            raise ConfigError(f"no case has a value at `{clustering.path}` to cluster by")
        figures = sum_up(ledger, self.interval, self.ks, not_run=not_run)
        repeats, k = figures.all.repeats, max(self.ks, default=1)
        fewest = repeats.fewest if repeats is not None else 1
        if k > fewest:
            only = write_count(fewest, "trial")
            raise ConfigError(f"pass@{k} needs {k} trials, but some cases have only {only}")
        return figures


def read_figures(evaluated: Evaluated, figuring: Figuring) -> Figures:
    """Those of all results of a run. Raise ConfigError as above."""
    ledger = figuring.open_ledger(evaluated.run)
    with StoredRun(evaluated.run, evaluated.grading) as kept:
        find = figuring.finder(kept)
        for result in kept.results():
            ledger.add(result, find(*result.key[:2]))
    from evalcase.report.figures.decided import settle_figures

    figures = figuring.sum_up(ledger, evaluated.not_run)
    return settle_figures(figures, evaluated.decision, is_biased=evaluated.is_biased)
