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
from evalcase.cli.running import OutputOptions, Session, output_options, tell_owed
from evalcase.cli.terminal import write_prose
from evalcase.cli.trust import refuse_stranger, trust_option
from evalcase.config.config import load_config
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
    config, state = load_config(os.getcwd(), os.getcwd()), this_environment().state
    session = Session(output, config, asked["runs_dir"])
    chosen = choose_run(run, session.folder, errored=retry_errored)
    if not trust:
        stranger = find_stranger(
            chosen, session.folder, config.root, state, is_named=run is not None
        )
        if stranger is not None:
            return refuse_stranger(stranger, read_request(stranger), state)
    if chosen is None:
        sys.stderr.write("there is no run to continue; `evalcase run` creates one\n")
        return 2
    if asked["env_file"] is not None:
        asked["env_file"] = os.path.abspath(asked["env_file"])
    broken = find_broken_grading(chosen)
    if broken is not None and broken.origin == "grade":
        code = finish_grading(session, chosen, broken, asked, trust=trust)
    else:
        code = _run_rest(session, chosen, asked, retry_errored=retry_errored)
    return code if run is not None else first_code(code, _code_of_newest(session.folder, chosen))


def _run_rest(session: Session, run: Run, asked: Mapping[str, Any], *, retry_errored: bool) -> int:
    options = read_request(run).override(asked)
    session.go_back(run)
    request = session.request(options, LocalOptions.of(asked))
    request = request_rest(request, run, retry_errored=retry_errored)
    execution = prepare_run(request, session.plan(request))
    if dropped := describe_dropped(run):
        session.view.tell(dropped)
    return session.execute(execution)


def _code_of_newest(folder: str, chosen: Run) -> int:
    """The exit code of the newest run, if that is another than the chosen one: to go on with an
    older one doesn't make it better. A run that was refused has no record, and is newer."""
    newest, code = newest_run(folder), 0
    if newest is None:
        return 0
    if newest.path != chosen.path:
        code = first_code(find_exit_code(newest), tell_owed(newest))
    if code:
        write_prose(f"the newest run is a different one, {newest.id}: its exit code is {code}")
    if not left_no_record(folder, newest):
        return code
    write_prose(
        "the last `evalcase run` was refused, or ended before it had a record: the exit code is 2"
    )
    return first_code(code, 2)
