"""`evalcase list`: the runs that were kept, newest first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime

import click

from evalcase.cli.running import pass_rate
from evalcase.config import load_config
from evalcase.errors import ConfigError, RecordError
from evalcase.evaluation import runs_folder
from evalcase.record.folder import Run
from evalcase.record.listing import Listed, list_runs
from evalcase.record.reader import totals
from evalcase.record.totals import Totals
from evalcase.report.visible import visible


@click.command("list")
@click.option("--runs-dir", help="Where records are kept. [default: .evalcase/runs]")
def command(runs_dir: str | None) -> int:
    """List the runs of this project, newest first, with what came of each.

    \b
    evalcase list                        id, age, suite, target, trials, pass rate, cost
    evalcase resume ID                   go on with one that is marked incomplete
    """
    try:
        config = load_config(os.getcwd())
        runs = list_runs(runs_folder(runs_dir, config))
    except (ConfigError, RecordError) as error:
        sys.stderr.write(f"evalcase: {error}\n")
        return 2
    rows = [_row(listed, datetime.now(UTC)) for listed in runs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    if not runs:
        sys.stdout.write("no runs yet\n")
    return 0


def _row(listed: Listed, now: datetime) -> tuple[str, ...]:
    """Id, age, suite, target, trials, pass rate, failures, cost, and what is left to do."""
    problem = listed.problem
    try:
        if listed.run is not None:
            return _cells(listed, listed.run, totals(listed.run.journal), now)
    except RecordError as error:
        problem = str(error)
    return (listed.id, "", "", "", "", "", "", "", f"damaged: {visible(problem)}")


def _cells(listed: Listed, run: Run, counted: Totals, now: datetime) -> tuple[str, ...]:
    rate = pass_rate(counted)
    return (
        listed.id,
        _age(run.created_at, now),
        _several(run.about.get("suites", {})),
        _several(run.about.get("targets", ())),
        f"{counted.total}/{run.about.get('trials', '?')}",
        f"{rate:.1%}" if rate is not None else "–",
        f"{counted.failed} failed, {counted.errored} errored",
        f"${counted.cost_usd:.4f}" if counted.cost_usd is not None else "–",
        "" if listed.status == "completed" else f"incomplete: evalcase resume {listed.id}",
    )


def _several(names: Iterable[str]) -> str:
    """The first of some names, and how many more there are."""
    first, *more = [visible(str(name)) for name in names] or ["–"]
    return f"{first} +{len(more)}" if more else first


def _age(created_at: str, now: datetime) -> str:
    try:
        seconds = (now - datetime.fromisoformat(created_at)).total_seconds()
    except (ValueError, TypeError):
        return "–"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"
