"""`evalcase resume`: go on with a run, doing only what is not finished."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Unpack

import click

from evalcase.cli import run_flags
from evalcase.cli.explained import explain_errors
from evalcase.cli.reports.requested import report_option, tell_owed
from evalcase.cli.running import (
    Manner,
    ask_for,
    carry_out_run,
    go_back,
    plan_shown,
    read_engine,
    take_process,
)
from evalcase.cli.trust import refuse_stranger, trust_option
from evalcase.evaluation.going_on import (
    choose_run,
    describe_dropped,
    find_broken_grading,
    find_exit_code,
    find_stranger,
    read_request,
    request_rest,
)
from evalcase.model.exit_codes import first_code
from evalcase.model.value import replace
from evalcase.pipeline import ready_run
from evalcase.project.config import Config, load_config
from evalcase.project.options import RunOptions, runs_folder
from evalcase.record.begun import left_no_record
from evalcase.record.find import newest_run
from evalcase.record.folder import Run
from evalcase.system.world import this_world

if TYPE_CHECKING:

    class ResumeFlags(run_flags.SharedFlags, run_flags.EngineFlags):
        """What `resume` is told."""

        run: str | None
        retry_errored: bool
        concurrency: int | None
        trust: bool


@click.command("resume")
@click.argument("run", required=False)
@click.option("--retry-errored", is_flag=True, help="Run errored trials again.")
@run_flags.concurrency("Override how many trials run at once.")
@run_flags.max_cost("Override the limit of `run`. What was spent before counts.")
@run_flags.max_errors("Override the value of `run`.")
@run_flags.fail_under("Override the rate of `run`.")
@run_flags.processes
@run_flags.engine
@run_flags.on
@run_flags.no_exec
@run_flags.env_file("Read environment variables from this file, instead of the one given to `run`.")
@trust_option
@report_option
@run_flags.runs_dir
@run_flags.quiet
@run_flags.as_json
@explain_errors
def command(**flags: Unpack[ResumeFlags]) -> int:
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
    manner = take_process(flags, is_new=False)
    config = load_config(os.getcwd(), os.getcwd())
    folder = os.path.abspath(runs_folder(flags["runs_dir"], config))
    chosen = choose_run(flags["run"], folder, errored=flags["retry_errored"])
    is_named, state = flags["run"] is not None, this_world().state
    if not flags["trust"]:
        stranger = find_stranger(chosen, folder, config.root, state, is_named=is_named)
        if stranger is not None:
            return refuse_stranger(stranger, read_request(stranger), state)
    if chosen is None:
        sys.stderr.write("there is no run to continue; `evalcase run` creates one\n")
        return 2
    code = _go_on(chosen, flags, config, folder, manner)
    return code if is_named else first_code(code, _code_of_newest(folder, chosen))


def _go_on(run: Run, flags: ResumeFlags, config: Config, folder: str, manner: Manner) -> int:
    broken = find_broken_grading(run)
    if broken is not None and broken.origin == "grade":
        from evalcase.cli.grade import finish_grading  # few are broken off

        return finish_grading(run, broken, flags, config, folder, manner)
    options = _read_options(run, flags)
    go_back(run, config)
    view = manner.make_view()
    asked = replace(ask_for(options, config, folder, view, manner), engine=read_engine(flags))
    request = request_rest(asked, run, retry_errored=flags["retry_errored"])
    prepared = ready_run(request, plan_shown(request, view))
    if dropped := describe_dropped(run):
        view.tell(dropped)
    return carry_out_run(prepared, view, manner)


def _read_options(run: Run, flags: ResumeFlags) -> RunOptions:
    """Those that it was begun with, but for what is said now."""
    return read_request(run).overridden_by(
        concurrency=flags["concurrency"], max_errors=flags["max_errors"],
        fail_under=flags["fail_under"], max_cost_usd=flags["max_cost_usd"],
        env_file=os.path.abspath(flags["env_file"]) if flags["env_file"] else None,
        no_exec=flags["no_exec"] or None,
    )  # fmt: skip


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
