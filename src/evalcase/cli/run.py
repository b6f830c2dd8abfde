"""`evalcase run`: cases against targets, every result kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Unpack, get_args

import click

from evalcase.cli import run_flags
from evalcase.cli.explained import explain_errors
from evalcase.cli.options import Count, Number, checked
from evalcase.cli.reports.requested import report_option
from evalcase.cli.run_flags import check_finite
from evalcase.cli.running import ask_for, carry_out_run, plan_shown, read_engine, take_process
from evalcase.evaluation.plan import Plan, trials_of
from evalcase.model.decision import StopRule
from evalcase.model.defaults import MOST_REPEATS
from evalcase.model.value import replace
from evalcase.pipeline import ready_run
from evalcase.project.config import Config, read_config
from evalcase.project.options import RunOptions, runs_folder
from evalcase.record.begun import note_start
from evalcase.run.selection import Selection, Shard, draw_seed
from evalcase.system.world import this_world
from evalcase.text.counted import write_count
from evalcase.text.visible import make_visible

if TYPE_CHECKING:

    class RunFlags(run_flags.SharedFlags, run_flags.EngineFlags):
        """What `run` is told."""

        paths: tuple[str, ...]
        targets: tuple[str, ...]
        concurrency: int | None
        repeat: int | None
        globs: tuple[str, ...]
        tags: tuple[str, ...]
        shard: Shard | None
        limit: int | None
        sample: int | None
        failed_of: str | None
        seed: int | None
        timeout_s: float | None
        retries: int | None
        retry_timeouts: bool
        stop: StopRule | None
        against: str | None
        fail_fast: bool
        cache: bool | None
        dry_run: bool


def _read_shard(value: str | None) -> Shard | None:
    if value is None:
        return None
    number, slash, of = value.partition("/")
    if number == "auto":
        return _auto_shard(of, slash)
    digits = slash and (number + of).isascii() and number.isdigit() and of.isdigit()
    if not digits or len(of) > 9 or len(number) > 9 or not 1 <= int(number) <= int(of):
        raise click.BadParameter("write it as 2/5, the second of five parts")
    return Shard(int(number), int(of))


def _auto_shard(of: str, slash: str) -> Shard:
    """What the scheduler that started this process says that it is."""
    from evalcase.run.array_shard import read_shard

    if slash and not (of.isascii() and of.isdigit() and 0 < len(of) <= 9 and int(of)):
        raise click.BadParameter("write it as auto, or as auto/5 for five parts")
    try:
        return read_shard(os.environ, int(of) if slash else None)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command("run")
@click.argument("paths", nargs=-1)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="A target from evalcase.toml, or kind:value. Repeatable.",
)
@run_flags.concurrency("How many trials run at once. [default: 10]")
@click.option("--repeat", type=Count(1, MOST_REPEATS), help="How many times to run each case.")
@click.option(
    "--case",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only cases whose id matches. Repeatable: cases that match any.",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    help="Only cases with this tag. Repeatable: cases with any of them.",
)
@click.option(
    "--shard",
    callback=checked(_read_shard),
    metavar="I/N",
    help="Only part I of N; `auto` takes it from the array task of the scheduler.",
)
@click.option("--limit", type=Count(1), help="Only the first cases, at most this many.")
@click.option("--sample", type=Count(1), help="A random sample of this many cases.")
@click.option(
    "--failed-of",
    metavar="RUN",
    help="Only cases that did not pass in RUN: its id, or `latest`.",
)
@click.option(
    "--seed", type=Count(), metavar="N",
    help="Seed of --sample and --stop. [default: a random one; with --shard, 0]",
)  # fmt: skip
@click.option(
    "--timeout",
    "timeout_s",
    callback=checked(check_finite),
    type=Number(0, min_open=True, meant="a number of seconds, for example 5"),
    help="Seconds allowed for each attempt. [default: 120]",
)
@click.option(
    "--retries",
    type=Count(0),
    help="Retries after temporary errors. [default: 2]",
)
@click.option("--retry-timeouts", is_flag=True, help="Retry time-outs too.")
@run_flags.max_cost("Start no new trials once this much is spent.")
@run_flags.max_errors("Allow this many errored trials. [default: 0]")
@run_flags.fail_under("Exit 1 only if the pass rate of cases is below this.")
@click.option(
    "--stop", type=click.Choice(get_args(StopRule)),
    help="Start no new trials once --fail-under or --against is decided.",
)  # fmt: skip
@click.option(
    "--against", metavar="RUN",
    help="With --stop likely: stop once this run is clearly better or worse than RUN.",
)  # fmt: skip
@click.option("--fail-fast", is_flag=True, help="Start no new trials after a case did not pass.")
@click.option(
    "--cache/--no-cache",
    default=None,
    help="Store answers, and don't ask the same question twice. Errors are not stored.",
)
@run_flags.processes
@run_flags.engine
@run_flags.on
@run_flags.env_file("Read environment variables from this file, unless they are already set.")
@run_flags.no_exec
@click.option(
    "--dry-run", is_flag=True, help="Check suites and configuration, and show what would run."
)
@report_option
@run_flags.runs_dir
@run_flags.quiet
@run_flags.as_json
@explain_errors
def command(**flags: Unpack[RunFlags]) -> int:
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
    folder = runs_folder(flags["runs_dir"], config)
    if not flags["dry_run"]:
        # It may be refused, or what is imported may end the process: no record would tell of it.
        note_start(folder, this_world().now())
    manner = take_process(flags, is_new=True)
    view = manner.make_view()
    request = ask_for(_read_options(flags, folder, config), config, folder, view, manner)
    request = replace(request, engine=read_engine(flags))
    plan = plan_shown(request, view)
    if flags["dry_run"]:
        manner.print(_say_what_would_run(plan, manner.as_json))
        return 0
    return carry_out_run(ready_run(request, plan), view, manner)


def _read_options(flags: RunFlags, folder: str, config: Config) -> RunOptions:
    return RunOptions(
        paths=flags["paths"] or (".",),
        targets=tuple(dict.fromkeys(flags["targets"])),
        selection=_read_selection(flags, folder, config),
        repeat=flags["repeat"],
        concurrency=flags["concurrency"],
        timeout_s=flags["timeout_s"],
        retries=flags["retries"],
        retry_timeouts=flags["retry_timeouts"],
        max_cost_usd=flags["max_cost_usd"],
        fail_fast=flags["fail_fast"],
        no_exec=flags["no_exec"],
        cache=flags["cache"],
        env_file=flags["env_file"],
        max_errors=flags["max_errors"] or 0,
        fail_under=flags["fail_under"],
        stop=flags["stop"],
        against=flags["against"],
    )


def _read_selection(flags: RunFlags, folder: str, config: Config) -> Selection:
    origin, failed_of = flags["failed_of"], None
    if origin is not None:
        from evalcase.evaluation.failed_of import find_failed

        failed_of = find_failed(origin, folder, config.root)
    seed = flags["seed"]
    if seed is None:
        seed = draw_seed(
            this_world().entropy, sample=flags["sample"], stop=flags["stop"], shard=flags["shard"]
        )
    return Selection(
        globs=flags["globs"], tags=flags["tags"], shard=flags["shard"], sample=flags["sample"],
        seed=seed, limit=flags["limit"], failed_of=failed_of,
    )  # fmt: skip


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
