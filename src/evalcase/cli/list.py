"""`evalcase list`: the runs that were kept, newest first."""

from __future__ import annotations

import os
import sys

import click

from evalcase.cli.running import pass_rate
from evalcase.config import load_config
from evalcase.errors import ConfigError, RecordError
from evalcase.evaluation import DEFAULT_RUNS_DIR
from evalcase.record.listing import Listed, list_runs
from evalcase.record.reader import totals
from evalcase.report.visible import visible


@click.command("list")
@click.option("--runs-dir", help="Where records are kept. [default: .evalcase/runs]")
def command(runs_dir: str | None) -> int:
    """List the runs of this project, newest first, with what came of each."""
    try:
        config = load_config(os.getcwd())
        folder = runs_dir or config.runs_dir or os.path.join(config.root, DEFAULT_RUNS_DIR)
        runs = list_runs(folder)
    except (ConfigError, RecordError) as error:
        sys.stderr.write(f"evalcase: {error}\n")
        return 2
    for listed in runs:
        sys.stdout.write(_line(listed) + "\n")
    if not runs:
        sys.stdout.write("no runs yet\n")
    return 0


def _line(listed: Listed) -> str:
    if listed.run is None:
        return f"{listed.id}  damaged: {visible(listed.problem)}"
    try:
        counted = totals(listed.run.journal)
    except RecordError as error:
        return f"{listed.id}  damaged: {visible(str(error))}"
    rate = pass_rate(counted)
    targets = ", ".join(map(str, listed.run.about.get("targets", ())))
    parts = [
        listed.id,
        visible(targets),
        f"{counted.total} of {listed.run.about.get('trials', '?')} trials",
        f"{rate:.1%} passed" if rate is not None else "–",
        f"{counted.failed} failed, {counted.errored} errored",
    ]
    if counted.cost_usd is not None:
        parts.append(f"${counted.cost_usd:.4f}")
    if listed.status != "completed":
        parts.append("incomplete: evalcase resume " + listed.id)
    return "  ".join(parts)
