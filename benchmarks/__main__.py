"""Runs the benchmarks and prints each figure beside its bar: `python -m benchmarks [GROUP…]`.

Nothing fails here: a figure that is over its bar is for a person to look at.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.comparing import comparing_figures, comparing_million_figures
from benchmarks.coverage import coverage_figures
from benchmarks.figures import HEADER, Figure, save, show
from benchmarks.grading import grading_figures
from benchmarks.growth import growth_figures
from benchmarks.installed import installed_figures
from benchmarks.intervals import interval_figures
from benchmarks.loading import deprecated_figures, json_figures, peer_figures, yaml_figures
from benchmarks.loopback import loopback_figures
from benchmarks.many import many_figures, million_figures
from benchmarks.merging import merging_figures, merging_million_figures
from benchmarks.paired import paired_figures
from benchmarks.places import place_figures
from benchmarks.pytest_runs import pytest_figures
from benchmarks.reporting import report_figures, report_million_figures
from benchmarks.running import peer_run_figures, running_figures
from benchmarks.small_judge import small_judge_figures
from benchmarks.stopping import stopping_figures
from benchmarks.streaming import streaming_figures
from benchmarks.walk import walk_figures
from benchmarks.whole_job import whole_job_figures
from benchmarks.workspaces import workspace_figures

HERE = Path(__file__).parent
GROUPS: dict[str, Callable[[Path], Iterator[Figure]]] = {
    "yaml": yaml_figures,
    "deprecated": deprecated_figures,
    "json": json_figures,
    "grading": grading_figures,
    "growth": growth_figures,
    "peer": peer_figures,
    "installed": installed_figures,
    "streaming": streaming_figures,
    "running": running_figures,
    "loopback": loopback_figures,
    "many": many_figures,
    "report": report_figures,
    "report-million": report_million_figures,
    "million": million_figures,
    "merging": merging_figures,
    "merging-million": merging_million_figures,
    "comparing": comparing_figures,
    "comparing-million": comparing_million_figures,
    "places": place_figures,
    "pytest": pytest_figures,
    "peer-runs": peer_run_figures,
    "whole-job": whole_job_figures,
    "walk": walk_figures,
    "workspaces": workspace_figures,
    "coverage": coverage_figures,
    "intervals": interval_figures,
    "paired": paired_figures,
    "stopping": stopping_figures,
    "small-judge": small_judge_figures,
}
ONLY_WHEN_ASKED = (
    "million", "report-million", "comparing-million", "merging-million",
    "coverage", "intervals", "paired", "stopping", "small-judge", "places",
)  # fmt: skip
"""The first four take as long as all the others, the last starts Ray again and again, and the five
before it measure no time."""


def main() -> None:
    """Measure the groups asked for, or all, printing as figures come in."""
    # What is compiled is kept, as where evalcase is installed: else each start compiles it again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    asked = sys.argv[1:] or [name for name in GROUPS if name not in ONLY_WHEN_ASKED]
    if unknown := set(asked) - set(GROUPS):
        sys.exit(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    figures = []
    print(HEADER)
    for group in asked:
        for figure in GROUPS[group](HERE / "data"):
            print(show(figure), flush=True)
            figures.append(figure)
    save(HERE / "results.json", figures)


if __name__ == "__main__":
    main()
