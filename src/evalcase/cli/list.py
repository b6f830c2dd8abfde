"""`evalcase list`: the runs that were kept, newest first."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

import click

from evalcase.cli import run_flags
from evalcase.cli.conclusion import say_mixed
from evalcase.cli.terminal import columns_of, seen_from, style_for
from evalcase.errors import ConfigError, RecordError
from evalcase.project.config import load_config
from evalcase.project.options import runs_folder
from evalcase.record.find import ListedRun, list_runs
from evalcase.record.folder import origin_of
from evalcase.record.kept import KeptRun
from evalcase.report.terminal.run_list import Entry, list_lines
from evalcase.text.visible import visible

_LONGEST = 100


@click.command("list")
@run_flags.runs_dir
def command(runs_dir: str | None) -> int:
    """List the runs of this project, newest first, with what came of each.

    \b
    evalcase list                        id, age, cases, pass rate, cost, suite, target
    evalcase report ID                   see one of them again
    evalcase resume ID                   go on with one that is marked incomplete
    """
    try:
        config = load_config(os.getcwd(), os.getcwd())
        folder = runs_folder(runs_dir, config)
        runs = list_runs(folder)
    except (ConfigError, RecordError) as error:
        sys.stderr.write(f"evalcase: {visible(str(error))}\n")
        return 2
    if not runs:
        sys.stdout.write(
            f"no runs yet in {visible(seen_from(os.getcwd(), folder))}; `evalcase run` makes one\n"
        )
        return 0
    now = datetime.now(UTC)
    # A program that reads this gets one line for each run, however long.
    width = columns_of(sys.stdout) if sys.stdout.isatty() else sys.maxsize
    for line in list_lines([_entry(each, now) for each in runs], width, style_for(sys.stdout)):
        sys.stdout.write(line + "\n")
    return 0


def _entry(listed: ListedRun, now: datetime) -> Entry:
    if listed.run is None:
        return Entry(listed.id, remark=f"damaged: {listed.problem}")
    about, age, kept = listed.run.about, _age(listed.run.created_at, now), KeptRun(listed.run)
    try:
        remark = _remark(listed, kept)
    except RecordError as error:
        return Entry(listed.id, age, remark=f"damaged: {error}")
    return Entry(
        listed.id, age, _names(about.get("suites")), _names(about.get("targets")), kept.totals,
        remark,
    )  # fmt: skip


def _remark(listed: ListedRun, kept: KeptRun) -> str:
    """What a number in a table would not say."""
    said = [f"{kept.gradings} gradings"] if kept.gradings > 1 else []
    if (origin := origin_of(kept.run)) is not None:
        said.append(f"cases that did not pass in {origin}")
    if kept.mixed:
        said.append(f"mixed: {say_mixed(kept.mixed)}")
    if listed.status != "completed":
        done, planned = kept.totals.trials.total, kept.planned
        of = f"{done:,} trials" if planned is None else f"{done:,} of {planned:,} trials"
        said.append(f"incomplete, {of}: evalcase resume {listed.id}")
    return "; ".join(said)


def _names(value: object) -> tuple[str, ...]:
    return tuple(str(name)[:_LONGEST] for name in value) if isinstance(value, list | dict) else ()


def _age(created_at: str, now: datetime) -> str:
    try:
        seconds = (now - datetime.fromisoformat(created_at)).total_seconds()
    except (ValueError, TypeError):
        return "–"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return "now"
