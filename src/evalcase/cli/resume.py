"""`evalcase resume`: go on with a run, doing only what is not finished."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from evalcase.api import prepare_run
from evalcase.cli.grade import finish_grading
from evalcase.cli.options import run_options
from evalcase.cli.report_files import tell_owed
from evalcase.cli.running import (
    Manner,
    OutputOptions,
    ask_for,
    execute_run,
    go_back,
    output_options,
    plan_shown,
    take_process,
)
from evalcase.cli.trust import refuse_stranger, trust_option
from evalcase.config.config import Config, load_config
from evalcase.config.options import LocalOptions
from evalcase.runner.resume import (
    choose_run,
    describe_dropped,
    find_broken_grading,
    find_exit_code,
    find_stranger,
    read_request,
    request_rest,
)
from evalcase.store.folder import Run, left_no_record
from evalcase.store.runs import newest_run
from evalcase.types.result import first_code
from evalcase.types.value import replace
from evalcase.util.environment import this_environment


@click.command("resume")
@click.argument("run", required=False)
@click.option("--retry-errored", is_flag=True, help="Run errored trials again.")
@run_options(
    concurrency="Override how many trials run at once.",
    max_cost_usd="Override the limit of `run`. What was spent before counts.",
    max_errors="Override the value of `run`.",
    fail_under="Override the rate of `run`.",
    env_file="Read environment variables from this file, instead of the one given to `run`.",
)
@run_options("no_exec", "processes", "engine", "on", "runs_dir")
@trust_option
@output_options
def resume_command(
    run: str | None, retry_errored: bool, trust: bool, output: OutputOptions, **asked: Any,  # noqa: ANN401 - each of its option's type
) -> int:  # fmt: skip
    """Continue a run that is not complete: only unfinished trials are run.

    RUN is the id of a run, an unambiguous part of it, its folder, `latest` or `previous`. By
    default it is the newest run that is not complete (with --retry-errored, or that has errored
    trials); if there is none, `latest`.

    A case whose input has been edited since is run again. If only its expected output or graders
    have been edited, its answer is graded again, and no target is called. A grading that was
    interrupted is finished first.

    The exit code is that of `run`, for the whole run. Without RUN, it is never better than that of
    the newest run.

    A run that was made by somebody else, or elsewhere, is refused, with a list of what it would
    use, unless you pass --trust.

    \b
    evalcase resume                      the newest incomplete run
    evalcase resume --retry-errored      run errored trials again, too
    evalcase resume latest               the newest run, complete or not
    """
    manner = take_process(output, is_new=False)
    config = load_config(os.getcwd(), os.getcwd())
    folder = config.find_runs(asked["runs_dir"])
    chosen = choose_run(run, folder, errored=retry_errored)
    is_named, state = run is not None, this_environment().state
    if not trust:
        stranger = find_stranger(chosen, folder, config.root, state, is_named=is_named)
        if stranger is not None:
            return refuse_stranger(stranger, read_request(stranger), state)
    if chosen is None:
        sys.stderr.write("there is no run to continue; `evalcase run` creates one\n")
        return 2
    if asked["env_file"] is not None:
        asked["env_file"] = os.path.abspath(asked["env_file"])
    broken = find_broken_grading(chosen)
    if broken is not None and broken.origin == "grade":
        code = finish_grading(chosen, broken, asked, config, folder, manner, trust=trust)
    else:
        code = _go_on(chosen, asked, config, folder, manner, retry_errored=retry_errored)
    return code if is_named else first_code(code, _code_of_newest(folder, chosen))


def _go_on(
    run: Run, asked: Mapping[str, Any], config: Config, folder: str, manner: Manner,
    *, retry_errored: bool,
) -> int:  # fmt: skip
    options = read_request(run).override(asked)
    go_back(run, config)
    view = manner.make_view()
    request = replace(ask_for(options, config, folder, view, manner), local=LocalOptions.of(asked))
    request = request_rest(request, run, retry_errored=retry_errored)
    execution = prepare_run(request, plan_shown(request, view))
    if dropped := describe_dropped(run):
        view.tell(dropped)
    return execute_run(execution, view, manner)


def _code_of_newest(folder: str, chosen: Run) -> int:
    """The exit code of the newest run, if that is another than the chosen one: to go on with an
    older one doesn't make it better."""
    newest = newest_run(folder)
    if newest is None:
        return 0
    code = 0
    if newest.path != chosen.path:
        code = first_code(find_exit_code(newest), tell_owed(newest))
    if code:
        sys.stderr.write(
            f"the newest run is a different one, {newest.id}: its exit code is {code}\n"
        )
    return first_code(code, _refusal_code(folder, newest))


def _refusal_code(folder: str, newest: Run) -> int:
    if not left_no_record(folder, newest):
        return 0
    sys.stderr.write(
        "the last `evalcase run` was refused, or ended before it had a record: the exit code is 2\n"
    )
    return 2
