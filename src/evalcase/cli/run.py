"""`evalcase run`: cases against targets, every result kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import click

from evalcase.api import prepare_run
from evalcase.cli.options import (
    GroupedCommand,
    run_options,
)
from evalcase.cli.running import (
    OutputOptions,
    ask_for,
    execute_run,
    output_options,
    plan_shown,
    take_process,
)
from evalcase.config.config import read_config
from evalcase.config.options import make_options
from evalcase.runner.plan import Plan, trials_of
from evalcase.runner.select import find_failed
from evalcase.store.folder import note_start
from evalcase.types.value import replace
from evalcase.util.environment import this_environment
from evalcase.util.text import make_visible, write_count


@click.command("run", cls=GroupedCommand)
@click.argument("paths", nargs=-1)
@run_options()
@click.option(
    "--dry-run", is_flag=True, help="Check suites and configuration, and show what would run."
)
@output_options
def run_command(
    paths: tuple[str, ...], dry_run: bool, output: OutputOptions, **asked: Any,  # noqa: ANN401 - each of its option's type
) -> int:  # fmt: skip
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
    config, environment = read_config(os.getcwd(), os.getcwd()), this_environment()
    folder = config.find_runs(asked["runs_dir"])
    if not dry_run:
        # It may be refused, or what is imported may end the process: no record would tell of it.
        note_start(folder, environment.now())
    manner = take_process(output, is_new=True)
    view = manner.make_view()
    if asked["failed_of"] is not None:
        asked["failed_of"] = find_failed(asked["failed_of"], folder, config.root)
    asked |= {"paths": paths or (".",), "targets": tuple(dict.fromkeys(asked["targets"]))}
    options, local = make_options(asked, environment.entropy)
    request = replace(ask_for(options, config, folder, view, manner), local=local)
    plan = plan_shown(request, view)
    if dry_run:
        manner.print(_say_what_would_run(plan, manner.as_json))
        return 0
    return execute_run(prepare_run(request, plan), view, manner)


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
