"""`evalcase grade`: answers that are kept, graded again. No target is asked; judges are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

import click

from evalcase.cli import run_flags
from evalcase.cli.explained import explain_errors
from evalcase.cli.options import WrongUsageError
from evalcase.cli.reports.requested import report_option
from evalcase.cli.running import Manner, ask_for, carry_out_run, go_back, plan_shown, take_process
from evalcase.cli.trust import refuse_graders, refuse_stranger, specs_of, trust_option
from evalcase.errors import ConfigError, SuiteError
from evalcase.evaluation.going_on import read_request
from evalcase.evaluation.grading_basis import (
    GradingBasis,
    basis_of_broken,
    explain_empty,
    open_graded,
    parse_graders,
    recorded_suites,
    request_grading,
    require_paths,
    settle_grading,
)
from evalcase.model.value import replace
from evalcase.pipeline import ready_run
from evalcase.project.config import Config, load_config
from evalcase.project.options import RunOptions, runs_folder
from evalcase.record.find import find_run
from evalcase.record.folder import Run
from evalcase.record.gradings import GradingBegun
from evalcase.record.kept import KeptRun
from evalcase.record.seal import is_own
from evalcase.system.world import this_world

if TYPE_CHECKING:
    from evalcase.cli.resume import ResumeFlags

    class GradeFlags(run_flags.SharedFlags):
        """What `grade` is told."""

        run: str
        suites: tuple[str, ...]
        graders: tuple[str, ...]
        recorded: bool
        trust: bool


@click.command("grade")
@click.argument("run")
@click.option(
    "--suite", "suites", multiple=True, metavar="PATH",
    help="Grade by the cases of these suites, matched by id. Repeatable.",
)  # fmt: skip
@click.option(
    "--grader", "graders", multiple=True, metavar="GRADER",
    help="Use this grader instead of those of the cases: a name, or YAML as in `graders`. "
    "Repeatable.",
)  # fmt: skip
@click.option("--recorded", is_flag=True, help="Grade by the cases as stored in the record.")
@run_flags.max_cost("Limit the cost of judges, including what the run has already spent.")
@run_flags.max_errors("Override the value of `run`.")
@run_flags.fail_under("Override the rate of `run`.")
@run_flags.no_exec
@run_flags.env_file("Read environment variables from this file.")
@trust_option
@report_option
@run_flags.runs_dir
@run_flags.quiet
@run_flags.as_json
@explain_errors
def command(**flags: Unpack[GradeFlags]) -> int:
    """Grade the answers of a run again, without calling targets. Judges are called.

    By default, the suites of the run are used as they are now. Every grading is kept: `report
    RUN@1` shows the first one, `report RUN` the newest.

    The exit code is that of `run`, for the new grading.

    \b
    evalcase grade latest                       by the suites as they are now
    evalcase grade latest@1 --recorded          by the cases as they were at first
    evalcase grade latest --grader "contains: Lima"
    """
    if flags["recorded"] and flags["suites"]:
        raise WrongUsageError("--recorded and --suite can't be combined")
    manner = take_process(flags, is_new=False)
    config = load_config(os.getcwd(), os.getcwd())
    folder = os.path.abspath(runs_folder(flags["runs_dir"], config))
    run, grading = find_run(flags["run"], folder)
    if grading is not None and not flags["recorded"]:
        said = f"say --recorded with `{flags['run']}`"
        raise ConfigError(f"the cases of a grading are stored in the record: {said}")
    options, state = read_request(run), this_world().state
    basis = GradingBasis(options, flags["suites"], flags["graders"], recorded=flags["recorded"])
    if not flags["trust"] and not is_own(run, state, config.root):
        if not basis.graders and not basis.suites:
            return refuse_stranger(run, options, state)
        basis = basis.of_stranger()
    basis = basis.with_options(_override_options(basis.options, flags))
    with open_graded(run, grading) as kept:
        return _grade_answers(kept, basis, config, folder, manner, trust=flags["trust"])


def finish_grading(
    run: Run, broken: GradingBegun, flags: ResumeFlags, config: Config, folder: str, manner: Manner
) -> int:
    """Go on with a grading that was broken off, by what it was begun by. The journal says that, and
    has no seal: graders that it names are held to what those of recorded cases are."""
    basis = basis_of_broken(run, broken, read_request(run))
    basis = basis.with_options(_override_options(basis.options, flags))
    if not flags["trust"]:
        code = refuse_graders(run, parse_graders(broken.graders), config)
        if code is not None:
            return code
    with KeptRun(run, broken.cases_of) as kept:
        return _grade_answers(kept, basis, config, folder, manner, trust=flags["trust"])


def _override_options(options: RunOptions, flags: GradeFlags | ResumeFlags) -> RunOptions:
    """Those of the run, but for what is said now. What judges may cost is said anew."""
    options = options.overridden_by(max_errors=flags["max_errors"], fail_under=flags["fail_under"])
    return replace(
        options, max_cost_usd=flags["max_cost_usd"],
        env_file=os.path.abspath(flags["env_file"]) if flags["env_file"] else None,
        no_exec=flags["no_exec"] or options.no_exec,
    )  # fmt: skip


def _grade_answers(
    kept: KeptRun, basis: GradingBasis, config: Config, folder: str, manner: Manner, *, trust: bool
) -> int:
    """Grade all answers that are kept once more."""
    held = recorded_suites(kept) if basis.recorded else None
    if held is not None and not basis.graders and not trust:
        code = refuse_graders(kept.run, specs_of(case for _, case in held), config)
        if code is not None:
            return code
    if basis.is_as_now:
        go_back(kept.run, config)
    require_paths(basis)
    view = manner.make_view()
    asked = ask_for(basis.options, config, folder, view, manner)
    request = request_grading(asked, kept, basis, held)
    try:
        plan, by = settle_grading(plan_shown(request, view), kept, basis)
    except SuiteError as error:
        raise explain_empty(error, basis) from None
    view.expect(plan.trials)
    return carry_out_run(ready_run(request, plan, by), view, manner)
