"""`evalcase resume`: go on with a run, doing only what is not finished."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Unpack

from evalcase.cli import declare, run_flags
from evalcase.cli.exit_codes import first_code
from evalcase.cli.explained import explain_errors
from evalcase.cli.reports.requested import report_option, tell_owed
from evalcase.cli.running import (
    Manner,
    ask_for,
    carry_out_run,
    plan_shown,
    read_engine,
    take_process,
)
from evalcase.cli.trust import refuse_stranger, trust_option
from evalcase.errors import ConfigError, RecordError
from evalcase.evaluation.evaluated import hold_to_gates, read_evaluated
from evalcase.model.quick_dataclass import replace
from evalcase.pipeline import ready_run
from evalcase.project.config import Config, load_config
from evalcase.project.options import RunOptions, runs_folder
from evalcase.record.begun import left_no_record
from evalcase.record.ending import read_end
from evalcase.record.find import find_run, list_runs, newest_run, newest_unfinished
from evalcase.record.folder import Run
from evalcase.record.kept import KeptRun
from evalcase.record.seal import is_own
from evalcase.system.world import this_world

if TYPE_CHECKING:

    class ResumeFlags(run_flags.SharedFlags, run_flags.EngineFlags):
        """What `resume` is told."""

        run: str | None
        retry_errored: bool
        concurrency: int | None
        trust: bool


@declare.command("resume")
@declare.argument("run", required=False)
@declare.option("--retry-errored", is_flag=True, help="Run errored trials again.")
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
    chosen, is_named = _choose_run(flags, folder), flags["run"] is not None
    stranger = None if flags["trust"] else _find_stranger(chosen, folder, config, is_named=is_named)
    if stranger is not None:
        return refuse_stranger(stranger, read_request(stranger), this_world().state)
    if chosen is None:
        sys.stderr.write("there is no run to continue; `evalcase run` creates one\n")
        return 2
    code = _go_on(chosen, flags, config, folder, manner)
    return code if is_named else first_code(code, _code_of_newest(folder, chosen))


def _choose_run(flags: ResumeFlags, folder: str) -> Run | None:
    """The run that is named; or the newest that is not finished, else the newest."""
    if flags["run"] is not None:
        return _find_ungraded(flags["run"], folder)
    return newest_unfinished(folder, errored=flags["retry_errored"]) or newest_run(folder)


def _go_on(run: Run, flags: ResumeFlags, config: Config, folder: str, manner: Manner) -> int:
    broken = KeptRun(run).find_broken()
    if broken is not None and broken.origin == "grade":
        from evalcase.cli.grade import finish_grading  # few are broken off

        return finish_grading(run, broken, flags, config, folder, manner)
    options = _read_options(run, flags)
    go_back(run, config)
    # Its targets are those it began with, whatever the configuration says by now.
    config = replace(config, target=run.about.default_target)
    view = manner.make_view()
    request = replace(
        ask_for(options, config, folder, view, manner), engine=read_engine(flags), run=run,
        again=("errored",) if flags["retry_errored"] else (),
    )  # fmt: skip
    prepared = ready_run(request, plan_shown(request, view))
    if (decision := read_end(run.journal).decision) is not None:
        view.tell(f"the run was {decision}. That is dropped, and the rest is run now")
    return carry_out_run(prepared, view, manner)


def _read_options(run: Run, flags: ResumeFlags) -> RunOptions:
    """Those that it was begun with, but for what is said now."""
    return read_request(run).overridden_by(
        concurrency=flags["concurrency"], max_errors=flags["max_errors"],
        fail_under=flags["fail_under"], max_cost_usd=flags["max_cost_usd"],
        env_file=os.path.abspath(flags["env_file"]) if flags["env_file"] else None,
        no_exec=flags["no_exec"] or None,
    )  # fmt: skip


def _find_ungraded(name: str, folder: str) -> Run:
    """A run by its name, which may not name one of its gradings."""
    run, grading = find_run(name, folder)
    if grading is not None:
        raise ConfigError(f"resume continues a run, not one of its gradings: say `{run.id}`")
    return run


def _find_stranger(
    chosen: Run | None, folder: str, config: Config, *, is_named: bool
) -> Run | None:
    """A run of somebody else's that would be gone on with. Where none is named, the newest has a
    say in the exit code, and a stranger's could make it better."""
    newest = [] if is_named else [listed.run for listed in list_runs(folder, 1)]
    state = this_world().state
    for run in (*newest, chosen):
        if run is not None and not is_own(run, state, config.root):
            return run
    return None


def _code_of_newest(folder: str, chosen: Run) -> int:
    """The exit code of the newest run, if that is another than the chosen one: to go on with an
    older one doesn't make it better."""
    newest = newest_run(folder)
    if newest is None:
        return 0
    code = 0
    if newest.path != chosen.path:
        code = hold_to_gates(read_evaluated(KeptRun(newest)), read_request(newest)).exit_code
        code = first_code(code, tell_owed(newest))
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


def read_request(run: Run) -> RunOptions:
    """What was asked for when a run was begun. Raise RecordError if the record doesn't say."""
    try:
        return RunOptions.from_dict(run.about.options)
    except (ConfigError, ValueError) as error:
        raise RecordError(f"{run.path}: run.json does not say what was run: {error}") from None


def go_back(run: Run, config: Config) -> None:
    """Go to where the run was begun: the paths of its suites were written as seen from there."""
    folder = run.about.cwd
    try:
        os.chdir(os.path.join(config.root, folder))
    except (OSError, ValueError):
        raise RecordError(
            f"{run.path} was started in a folder that no longer exists: {folder!r}"
        ) from None
