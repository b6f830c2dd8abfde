"""How the figures of a report are made: what its options ask for, as far as the run has it."""

from __future__ import annotations

from evalcase.errors import ConfigError
from evalcase.model.quick_dataclass import dataclass
from evalcase.report.figures.figures import Figures, Interval
from evalcase.report.figures.ledger import Ledger
from evalcase.report.terminal.part_table import KINDS, Kind


@dataclass(frozen=True, slots=True)
class Figuring:
    """How figures are estimated, and which are shown."""

    interval: Interval = "wilson"
    cluster: str | None = None
    """The path to what cases have in common that tend to come out alike."""
    ks: tuple[int, ...] = ()
    """The k of pass@k and pass^k."""
    by: tuple[Kind, ...] = KINDS

    def open_ledger(self) -> Ledger:
        """Raise ConfigError where clusters are asked for by what is no path."""
        if self.cluster is None:
            return Ledger()
        from evalcase.report.figures.clustering import Clustering

        try:
            return Ledger(Clustering(self.cluster))
        except ValueError as error:
            raise ConfigError(f"--cluster {self.cluster}: {error}") from None

    def sum_up(self, ledger: Ledger, not_run: int) -> Figures:
        """Raise ConfigError where no case is in a cluster, or cases have too few trials."""
        from evalcase.report.figures.summing import sum_up

        clustering = ledger.clustering
        if clustering is not None and not clustering.found:
            raise ConfigError(f"--cluster {clustering.path}: no case has anything there")
        figures = sum_up(ledger, self.interval, self.ks, not_run=not_run)
        repeats = figures.all.repeats
        fewest = repeats.fewest if repeats is not None else 1
        if self.ks and max(self.ks) > fewest:
            tried = "once" if fewest == 1 else f"{fewest} times"
            raise ConfigError(
                f"--pass-at {max(self.ks)}: there are cases that were tried {tried}, and no more "
                "trials than that can be chosen of them"
            )
        return figures
