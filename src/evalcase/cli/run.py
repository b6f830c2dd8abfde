"""`evalcase run`: cases against targets, every result kept."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from functools import partial

import click

from evalcase.cli.conclusion import Gates
from evalcase.cli.explained import explained
from evalcase.cli.running import Manner, execute, finite
from evalcase.cli.watching import make_view
from evalcase.evaluation.conduct import Evaluation
from evalcase.evaluation.plan import Plan, prepare
from evalcase.evaluation.work import trials_of
from evalcase.project.config import read_config
from evalcase.project.options import RunOptions, runs_folder
from evalcase.run.plan import Selection, Shard
from evalcase.system.world import this_world
from evalcase.text.visible import visible


def _shard(_: click.Context, __: click.Parameter, value: str | None) -> Shard | None:
    if value is None:
        return None
    number, slash, of = value.partition("/")
    digits = slash and (number + of).isascii() and number.isdigit() and of.isdigit()
    if not digits or len(of) > 9 or len(number) > 9 or not 1 <= int(number) <= int(of):
        raise click.BadParameter("write it as 2/5, the second of five parts")
    return Shard(int(number), int(of))


@click.command("run")
@click.argument("paths", nargs=-1)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="A configured target, or kind:value. Repeatable.",
)
@click.option("--concurrency", type=click.IntRange(1), help="Trials at once. [default: 10]")
@click.option("--repeat", type=click.IntRange(1), help="Trials of each case.")
@click.option(
    "--case",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only cases whose id matches. Repeatable.",
)
@click.option("--tag", "tags", multiple=True, help="Only cases with this tag. Repeatable.")
@click.option("--shard", callback=_shard, metavar="I/N", help="Only the I-th of N parts.")
@click.option("--limit", type=click.IntRange(1), help="At most so many cases.")
@click.option("--sample", type=click.IntRange(1), help="So many cases, drawn by --seed.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--timeout",
    "timeout_s",
    callback=finite,
    type=click.FloatRange(0, min_open=True),
    help="Seconds for each attempt. [default: 120]",
)
@click.option(
    "--retries",
    type=click.IntRange(0),
    help="Further attempts after what may succeed later. [default: 2]",
)
@click.option("--retry-timeouts", is_flag=True, help="Time-outs may succeed later, too.")
@click.option(
    "--max-cost",
    "max_cost_usd",
    callback=finite,
    type=click.FloatRange(0),
    metavar="USD",
    help="Start no more trials once this is spent.",
)
@click.option(
    "--max-errors",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Errored trials that are put up with.",
)
@click.option(
    "--fail-under",
    callback=finite,
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit 1 only if the pass rate is lower.",
)
@click.option("--fail-fast", is_flag=True, help="Start no more trials once one did not pass.")
@click.option(
    "--cache/--no-cache",
    default=None,
    help="Keep answers, and ask nobody the same twice. Errors are never kept.",
)
@click.option(
    "--env-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Take environment variables from this file, if they are not set.",
)
@click.option("--no-exec", is_flag=True, help="Refuse what would start a process or import code.")
@click.option(
    "--dry-run", is_flag=True, help="Check suites and configuration, and say what would run."
)
@click.option("--runs-dir", help="Where records are kept. [default: .evalcase/runs]")
@click.option("--quiet", is_flag=True, help="Only the last lines.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(**options: object) -> int:
    """Run cases against targets, grade the answers and keep every result.

    \b
    evalcase run --target python:my_agent:answer      a function of yours
    evalcase run evals/ --target agent                a target of evalcase.toml
    evalcase run --case 'math-*' --repeat 5           some cases, five times each

    Every case is checked before the first target is called. Ctrl-C once lets finish what is
    running, twice stops; 'evalcase resume' goes on with either.

    Exit code: 0 all passed; 1 some failed, or were not graded, or a gate is not met; 2 an invalid
    suite, configuration or usage; 3 trials errored, or the run was not completed; 130 interrupted.
    """
    return _run(options)


@explained
def _run(given: dict[str, object]) -> int:
    selection = Selection(
        **{name: given.pop(name) for name in ("globs", "tags", "shard", "sample", "seed", "limit")}  # type: ignore[arg-type]
    )
    manner = Manner(quiet=bool(given.pop("quiet")), as_json=bool(given.pop("as_json")))
    gates = Gates(given.pop("max_errors"), given.pop("fail_under"))  # type: ignore[arg-type]
    dry_run, runs_dir = given.pop("dry_run"), given.pop("runs_dir")
    given["paths"] = given["paths"] or (".",)
    given["targets"] = tuple(dict.fromkeys(given["targets"]))  # type: ignore[call-overload]
    chosen = RunOptions(selection=selection, **given)  # type: ignore[arg-type]
    config = read_config(os.getcwd(), os.getcwd())
    view = make_view(quiet=manner.quiet or manner.as_json)
    with redirect_stdout(sys.stderr):  # a module may print when it is imported
        plan = prepare(chosen, config, this_world(), view.warn)
    view.expect(plan.trials)
    if dry_run:
        return _say_what_would_run(plan, manner.as_json)
    folder = runs_folder(runs_dir, config)  # type: ignore[arg-type]
    evaluation = Evaluation(plan, view)
    return execute(evaluation, partial(evaluation.carry_out, folder), view, manner, gates)


def _say_what_would_run(plan: Plan, as_json: bool) -> int:
    """The targets with their trials, and every case of them; nothing is asked, or set up."""
    shown = plan.scrubber.text
    if as_json:
        counts = {shown(name): count for name, count in plan.trials.items()}
        sys.stdout.write(json.dumps({"trials": plan.planned, "targets": counts}) + "\n")
        return 0
    for name, count in plan.trials.items():
        trials = "1 trial" if count == 1 else f"{count} trials"
        sys.stdout.write(f"{visible(shown(name))}: {trials}\n")
        for trial in trials_of(plan, name):
            if trial.repeat == 1:
                sys.stdout.write(
                    f"  {visible(shown(trial.suite))}: {visible(shown(trial.case.id))}"
                )
                sys.stdout.write(" (skipped)\n" if trial.case.skip else "\n")
    return 0
