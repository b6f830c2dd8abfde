"""Where cases are counted by their variables: a cell for each value, of names that have few."""

from __future__ import annotations

from evalcase.report.figures.cell import ClusterName, FigureCell
from evalcase.report.variable_labels import variable_labels
from evalcase.types.case import Case
from evalcase.types.question import TrialKey

MOST_VALUES = 200
"""A name with more values tells no groups apart: it may be another in each of a million rows."""


class VariableCells:
    """Cells by name, value and cluster."""

    def __init__(self) -> None:
        self.cells: dict[str, dict[tuple[str, ClusterName], FigureCell]] = {}
        self.crowded: set[str] = set()
        """Names with too many values, of which nothing is counted."""
        self.grouping: set[str] = set()
        """Names of which some value is that of several cases; one at several targets is one."""
        self._labels: dict[str, dict[str, tuple[str, str]]] = {}
        """The values of each name, each with the suite and the id of its first case."""

    def find(self, case: Case | None, key: TrialKey, cluster: ClusterName) -> list[FigureCell]:
        """Where a case is counted."""
        found = []
        for name, label in variable_labels(case).items():
            if name in self.crowded:
                continue
            cells = self.cells.setdefault(name, {})
            labels = self._labels.setdefault(name, {})
            if labels.setdefault(label, key[:2]) != key[:2]:
                self.grouping.add(name)
            cell = cells.get((label, cluster))
            if cell is None:
                cell = cells[label, cluster] = FigureCell(cluster)
                if len(labels) > MOST_VALUES:
                    self.crowded.add(name)
                    del self.cells[name]
                    continue
            found.append(cell)
        return found
