"""`evalcase resume`: go on with a run, doing only what is not finished."""

from __future__ import annotations

import os
import sys
from functools import partial

import click

from evalcase.cli.conclusion import Gates
from evalcase.cli.explained import explained
from evalcase.cli.running import Manner, execute, finite
from evalcase.cli.trust import refuse_stranger, trust_option
from evalcase.cli.watching import make_view
from evalcase.errors import ConfigError, RecordError
from evalcase.evaluation.conduct import Evaluation
from evalcase.evaluation.plan import prepare
from evalcase.model.quick_dataclass import replace
from evalcase.model.result import Verdict
from evalcase.project.config import Config, load_config
from evalcase.project.options import RunOptions, runs_folder
from evalcase.record.find import find_run, newest_incomplete
from evalcase.record.folder import Run
from evalcase.record.seal import is_own
from evalcase.system.world import this_world


@click.command("resume")
@click.argument("run", required=False)
@click.option("--retry-errored", is_flag=True, help="Run errored trials again.")
@click.option(
    "--max-cost",
    "max_cost_usd",
    callback=finite,
    type=click.FloatRange(0),
    metavar="USD",
    help="Another cap than that of `run`. What was spent before counts.",
)
@click.option("--max-errors", type=click.IntRange(0), default=0, show_default=True)
@click.option("--fail-under", callback=finite, type=click.FloatRange(0, 1), metavar="RATE")
@click.option("--no-exec", is_flag=True, help="Refuse what would start a process or import code.")
@click.option(
    "--env-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Take environment variables from this file, in place of the one of `run`.",
)
@trust_option
@click.option("--runs-dir", help="Where records are kept. [default: .evalcase/runs]")
@click.option("--quiet", is_flag=True, help="Only the last lines.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@explained
def command(
    run: str | None, retry_errored: bool, max_cost_usd: float | None,
    max_errors: int,
    fail_under: float | None, no_exec: bool, env_file: str | None, trust: bool,
    runs_dir: str | None, quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Go on with a run: only what is not finished is run, whatever ended it.

    RUN is a run's id, a part of it that no other has, its folder, `latest` or `previous`; without
    it, the newest that is not complete. A case whose input was edited in between is asked again.
    Where only what it is graded by was edited, its answer is graded again, and no target is asked.
    A run that somebody else made, or made elsewhere, is refused with what it would use, unless you
    trust it.

    \b
    evalcase resume                      the newest one
    evalcase resume --retry-errored      what errored, too
    evalcase resume latest               after an edit of what is expected
    """
    again: tuple[Verdict, ...] = ("errored",) if retry_errored else ()
    manner = Manner(quiet, as_json, is_new=False)
    config = load_config(os.getcwd(), os.getcwd())
    folder = os.path.abspath(runs_folder(runs_dir, config))
    chosen = _find(run, folder)
    if chosen is None:
        (sys.stderr if as_json else sys.stdout).write("there is no run to go on with\n")
        return 0
    request, state = _request(chosen), this_world().state
    if not trust and not is_own(chosen, state, config.root):
        return refuse_stranger(chosen, request, state)
    if env_file is not None:
        request = replace(request, env_file=os.path.abspath(env_file))
    if no_exec:
        request = replace(request, no_exec=True)
    if max_cost_usd is not None:
        request = replace(request, max_cost_usd=max_cost_usd)
    # Its targets are those it began with, whatever the configuration says by now.
    default = chosen.about.get("default_target", config.target)
    _go_back(chosen, config)
    view = make_view(quiet=manner.quiet or manner.as_json)
    config = replace(config, target=default)
    plan = prepare(request, config, this_world(), view.warn)
    evaluation = Evaluation(plan, view)
    view.expect(plan.trials)
    go = partial(evaluation.carry_out, folder, chosen, again)
    return execute(evaluation, go, view, manner, Gates(max_errors, fail_under))


def _find(name: str | None, folder: str) -> Run | None:
    if name is None:
        return newest_incomplete(folder)
    run, grading = find_run(name, folder)
    if grading is not None:
        raise ConfigError(f"a run is gone on with, and not one of its gradings: say `{run.id}`")
    return run


def _request(run: Run) -> RunOptions:
    try:
        default = run.about.get("default_target")
        if not isinstance(default, str | None):
            raise TypeError(f"{default!r} is no target")
        return RunOptions.from_dict(run.about["options"])
    except (ConfigError, KeyError, TypeError, ValueError, AttributeError):
        raise RecordError(f"{run.path}: run.json does not say what was run") from None


def _go_back(run: Run, config: Config) -> None:
    """Go to where the run was begun: the paths of its suites were written as seen from there."""
    folder = run.about.get("cwd", ".")
    try:
        os.chdir(os.path.join(config.root, folder))
    except (OSError, TypeError, ValueError):
        raise RecordError(f"{run.path} was begun in a folder that is gone: {folder!r}") from None
