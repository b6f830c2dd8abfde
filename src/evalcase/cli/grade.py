"""`evalcase grade`: answers that are kept, graded again. No target is asked; judges are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from evalcase.cli import declare, run_flags
from evalcase.cli.explained import explain_errors
from evalcase.cli.reports.requested import report_option
from evalcase.cli.resume import go_back, read_request
from evalcase.cli.running import Manner, ask_for, carry_out_run, plan_shown, take_process
from evalcase.cli.trust import refuse_graders, refuse_stranger, specs_of, trust_option
from evalcase.errors import ConfigError, RecordError, SuiteError
from evalcase.evaluation.grading import By, cases_by_id, cases_by_name, require_cases
from evalcase.evaluation.plan import Given, Plan
from evalcase.evaluation.request import RunRequest
from evalcase.model.case import Case
from evalcase.model.json_value import JSON
from evalcase.model.quick_dataclass import replace
from evalcase.model.quick_tuple import NamedTuple
from evalcase.model.result import Result
from evalcase.model.suite import Suite
from evalcase.pipeline import ready_run
from evalcase.plugins.grader_making import defaults_of, make_grader
from evalcase.project.config import Config, load_config
from evalcase.project.options import RunOptions, runs_folder
from evalcase.record.find import find_run
from evalcase.record.folder import Run
from evalcase.record.gradings import GradingBegun
from evalcase.record.kept import KeptRun
from evalcase.record.seal import is_own
from evalcase.run.hashes import hash_question
from evalcase.run.selection import Selection
from evalcase.suites.collection import SomeSuites
from evalcase.suites.held_suites import HeldSuites
from evalcase.system.world import this_world

if TYPE_CHECKING:
    from evalcase.cli.resume import ResumeFlags
    from evalcase.report.terminal.view import RunView

    class GradeFlags(run_flags.SharedFlags):
        """What `grade` is told."""

        run: str
        suites: tuple[str, ...]
        graders: tuple[str, ...]
        recorded: bool
        trust: bool


@declare.command("grade")
@declare.argument("run")
@declare.option(
    "--suite", "suites", multiple=True, metavar="PATH",
    help="Grade by the cases of these suites, matched by id. Repeatable.",
)  # fmt: skip
@declare.option(
    "--grader", "graders", multiple=True, metavar="GRADER",
    help="Use this grader instead of those of the cases: a name, or YAML as in `graders`. "
    "Repeatable.",
)  # fmt: skip
@declare.option("--recorded", is_flag=True, help="Grade by the cases as stored in the record.")
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
        raise declare.WrongUsageError("--recorded and --suite can't be combined")
    manner = take_process(flags, is_new=False)
    config = load_config(os.getcwd(), os.getcwd())
    folder = os.path.abspath(runs_folder(flags["runs_dir"], config))
    run, grading = find_run(flags["run"], folder)
    if grading is not None and not flags["recorded"]:
        said = f"say --recorded with `{flags['run']}`"
        raise ConfigError(f"the cases of a grading are stored in the record: {said}")
    options, state = read_request(run), this_world().state
    basis = _Basis(options, flags["suites"], flags["graders"], recorded=flags["recorded"])
    if not flags["trust"] and not is_own(run, state, config.root):
        if not basis.graders and not basis.suites:
            return refuse_stranger(run, options, state)
        basis = basis.of_stranger()
    with _open_kept(run, grading) as kept:
        return _grade_answers(
            kept, basis.overridden_by(flags), config, folder, manner, flags["trust"]
        )


def finish_grading(
    run: Run, broken: GradingBegun, flags: ResumeFlags, config: Config, folder: str, manner: Manner
) -> int:
    """Go on with a grading that was broken off, by what it was begun by. The journal says that, and
    has no seal: graders that it names are held to what those of recorded cases are."""
    if broken.others:
        raise ConfigError(
            f"grading {broken.number} of run {run.id} was interrupted, and used other suites: "
            "the same `evalcase grade` with --suite finishes it; without it, all is graded again"
        )
    basis = _Basis(read_request(run), (), broken.graders, recorded=broken.recorded)
    if not flags["trust"]:
        code = refuse_graders(run, _read_graders(broken.graders), config)
        if code is not None:
            return code
    with KeptRun(run, broken.cases_of) as kept:
        return _grade_answers(
            kept, basis.overridden_by(flags), config, folder, manner, flags["trust"]
        )


def _open_kept(run: Run, grading: int | None) -> KeptRun:
    """A run at a grading that was brought to its end, the newest unless one is named: the cases of
    one that was broken off are those of two."""
    kept = KeptRun(run, grading)
    if grading is None:
        return kept.before_broken()
    kept.refuse_broken()
    return kept


class _Basis(NamedTuple):
    """What answers are graded by."""

    options: RunOptions
    suites: tuple[str, ...]
    """Their paths; none for those of the run."""
    graders: tuple[str, ...]
    """In place of what cases say."""
    recorded: bool
    """Whether cases are those that the record holds."""

    def of_stranger(self) -> _Basis:
        """The same for a record of somebody else's: what is there to grade is all that is used of
        it. Graders that others wrote down may run code, paths that they wrote may lead anywhere,
        and what they would let pass doesn't count."""
        return self._replace(options=RunOptions(), recorded=not self.suites)

    def overridden_by(self, flags: GradeFlags | ResumeFlags) -> _Basis:
        """With what is asked for now."""
        options = self.options.overridden_by(
            max_errors=flags["max_errors"], fail_under=flags["fail_under"]
        )
        options = replace(
            options, max_cost_usd=flags["max_cost_usd"],
            env_file=os.path.abspath(flags["env_file"]) if flags["env_file"] else None,
            no_exec=flags["no_exec"] or options.no_exec, fail_fast=False, cache=None,
        )  # fmt: skip
        return self._replace(options=options)

    @property
    def is_as_now(self) -> bool:
        """Whether it is the suites of the run, as they are now."""
        return not (self.suites or self.recorded)


def _grade_answers(
    kept: KeptRun, basis: _Basis, config: Config, folder: str, manner: Manner, trust: bool
) -> int:
    """Grade all answers that are kept once more."""
    held = _recorded_suites(kept) if basis.recorded else None
    if held is not None and not basis.graders and not trust:
        code = refuse_graders(kept.run, specs_of(case for _, case in held), config)
        if code is not None:
            return code
    if basis.is_as_now:
        go_back(kept.run, config)
        _require_paths(basis.options.paths)
    graders = [make_grader(spec, defaults_of(config)) for spec in _read_graders(basis.graders)]
    given = Given(held, graders=graders, only_graders=bool(basis.graders), only_answers=True)
    answers = kept.count_answers()
    view = manner.make_view()
    request = ask_for(_narrow_options(basis, answers), config, folder, view, manner)
    request = replace(request, given=given, run=kept.run)
    plan = _plan_grading(request, view, basis)
    by = _graded_by(plan, kept, basis)
    plan = replace(plan, trials={name: count for name, count in answers.items() if count})
    view.expect(plan.trials)
    return carry_out_run(ready_run(request, plan, by), view, manner)


def _narrow_options(basis: _Basis, answers: Mapping[str, int]) -> RunOptions:
    """The options for the targets that there are answers of, and for the suites that are named."""
    options = replace(basis.options, targets=tuple(answers))
    if not basis.suites:
        return options
    paths = tuple(os.path.abspath(path) for path in basis.suites)
    return replace(options, paths=paths, selection=Selection())


def _plan_grading(request: RunRequest, view: RunView, basis: _Basis) -> Plan:
    """The plan; if the folder of a run has no suites any more, say what is left to grade by."""
    try:
        return plan_shown(request, view)
    except SuiteError as error:
        empty = [each.path for each in error.problems if each.code == "no-suites"]
        if not basis.is_as_now or not empty:
            raise
        what = f"{empty[0]} no longer has eval files"
        raise ConfigError(f"{what}. --recorded grades by the stored cases") from None


def _require_paths(paths: Sequence[str]) -> None:
    gone = [path for path in paths if not os.path.exists(path)]
    if gone:
        raise ConfigError(f"{gone[0]} no longer exists. --recorded grades by the stored cases")


def _read_graders(texts: Sequence[str]) -> list[dict[str, JSON]]:
    """Graders as somebody typed them, in any of their spellings. Raise SuiteError."""
    from evalcase.read.document import parse_document
    from evalcase.suites.made import canonical_graders

    specs: list[dict[str, JSON]] = []
    for text in texts:
        document = parse_document(text.encode(), "yaml", "--grader")
        if not document.readable:
            raise SuiteError(document.problems)
        specs += canonical_graders([document.value])
    return specs


def _recorded_suites(kept: KeptRun) -> SomeSuites:
    """The suites of a run as its record holds them."""
    cases: dict[str, dict[str, Case]] = {}
    for result in kept.results():
        suite, id = result.key[:2]
        known = cases.setdefault(suite, {})
        if id not in known:
            case = kept.find_case(suite, id)
            if case is not None:
                _check_graders(case, kept)
                known[id] = case
    return HeldSuites(
        Suite(suite, {"name": suite}, tuple(known.values())) for suite, known in cases.items()
    )


def _check_graders(case: Case, kept: KeptRun) -> None:
    """Raise RecordError if a record names graders in a way in which evalcase never wrote them."""
    from evalcase.suites.made import canonical_graders

    for part in case.graded_parts:
        try:
            canonical_graders(part._data.get("graders", []))
        except SuiteError as error:
            problem = error.problems[0].message
            raise RecordError(
                f"{kept.run.journal}: case `{case.id}` can't be graded by its graders: {problem}"
            ) from None


def _graded_by(plan: Plan, kept: KeptRun, basis: _Basis) -> By:
    if basis.recorded:
        cases_of = kept.grading or kept.gradings
        return By(kept.find_case, basis.graders, recorded=True, cases_of=cases_of)
    hashes = plan.suites.hashes()
    if basis.suites:
        by_ids = cases_by_id(plan.suites)
        by = By(lambda _, id: by_ids.get(id), basis.graders, suites=hashes, others=True)
    else:
        by_names = cases_by_name(plan.suites)
        by = By(lambda suite, id: by_names.get((suite, id)), basis.graders, suites=hashes)
    require_cases(kept, by.find, lambda result, case: _asks_same(result, case, kept))
    return by


def _asks_same(result: Result, case: Case, kept: KeptRun) -> bool:
    """Whether a case asks what was asked; files that it names aside, which may be gone.

    The hash is of the case as it was, the record has it without its secrets.
    """
    asked = hash_question(case)
    if result.question_hash == asked:
        return True
    before = kept.find_case(result.key.suite, case.id)
    return before is None or hash_question(before) == asked
