"""`evalcase run`: cases against targets, every result kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import click

from evalcase.api import prepare_run
from evalcase.cli.options import GroupedCommand, run_options
from evalcase.cli.running import Session, output_options
from evalcase.config.config import Config, read_config
from evalcase.config.options import make_options
from evalcase.errors import ConfigError
from evalcase.runner.plan import Plan, trials_of
from evalcase.runner.select import find_failed
from evalcase.store.folder import note_start
from evalcase.util.environment import wall_time
from evalcase.util.text import make_visible, write_count


class _RunCommand(GroupedCommand):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = args[:]
        try:
            return super().parse_args(ctx, args)
        except click.UsageError:
            if "--dry-run" not in given:
                with suppress(ConfigError):
                    _note_start(read_config(os.getcwd(), os.getcwd()), None)
            raise


def _note_start(config: Config, runs_dir: str | None) -> None:
    """A run may be refused, or what is imported may end the process: no record would tell of it."""
    note_start(config.find_runs(runs_dir), wall_time())


@click.command("run", cls=_RunCommand)
@click.argument("paths", nargs=-1)
@run_options()
@click.option(
    "--dry-run", is_flag=True, help="Check suites and configuration, and show what would run."
)
@output_options
def run_command(paths: tuple[str, ...], dry_run: bool, **asked: Any) -> int:  # noqa: ANN401 - each of its option's type
    """Run cases against targets, grade the answers and keep every result.

    \b
    evalcase run --target python:my_agent:answer   your own function
    evalcase run evals/ --target agent             a target from evalcase.toml
    evalcase run --case 'math-*' --repeat 5        some cases, five times each
    evalcase run --failed-of latest                what did not pass, as a new run

    All cases are checked before any target is called. After Ctrl-C, no new trials start and
    running ones finish; a second Ctrl-C stops those too. 'evalcase resume' continues the run.

    Exit code: 0 all passed; 1 some failed or were not graded, or a gate failed; 2 invalid suite,
    configuration or usage; 3 trials errored, or the run is not complete; 130 interrupted.
    """
    config = read_config(os.getcwd(), os.getcwd())
    if not dry_run:
        _note_start(config, asked["runs_dir"])
    session = Session(config, asked, is_new=True)
    if asked["failed_of"] is not None:
        asked["failed_of"] = find_failed(asked["failed_of"], session.folder, config.root)
    asked |= {"paths": paths or (".",), "targets": tuple(dict.fromkeys(asked["targets"]))}
    request = session.request(make_options(asked))
    plan = session.plan(request)
    if dry_run:
        session.print(_say_what_would_run(plan, asked["as_json"]))
        return 0
    return session.execute(prepare_run(request, plan))


def _say_what_would_run(plan: Plan, as_json: bool) -> Iterator[str]:
    """The targets with their trials, and every case of them; nothing is asked, or set up."""
    shown = plan.scrubber.text
    if as_json:
        counts = {shown(name): count for name, count in plan.trials.items()}
        yield json.dumps({"trials": plan.planned, "targets": counts})
        return
    if plan.options.selection.sample is not None:
        yield f"drawn by --seed {plan.options.selection.seed}"
    for name, count in plan.trials.items():
        yield f"{make_visible(shown(name))}: {write_count(count, 'trial')}"
        for trial in trials_of(plan, name):
            if trial.repeat == 1:
                line = f"  {make_visible(shown(trial.suite))}: {make_visible(shown(trial.case.id))}"
                yield f"{line} (skipped)" if trial.case.skip else line
