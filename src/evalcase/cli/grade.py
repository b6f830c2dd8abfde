"""`evalcase grade`: answers that are kept, graded again. No target is asked; judges are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from evalcase.cli import declare, run_flags
from evalcase.cli.explained import explain_errors
from evalcase.cli.reports.requested import report_option, request_reports
from evalcase.cli.resume import go_back, read_request
from evalcase.cli.running import Manner, execute, keep_secrets, take_process
from evalcase.cli.streams import same_streams
from evalcase.cli.trust import refuse_graders, refuse_stranger, trust_option
from evalcase.cli.watching import make_view
from evalcase.errors import ConfigError, RecordError, SuiteError
from evalcase.evaluation.conduct import Evaluation
from evalcase.evaluation.grading import By, Nobody, cases_by_id, cases_by_name, require_cases
from evalcase.evaluation.plan import Given, Plan, prepare
from evalcase.model.case import Case
from evalcase.model.json_value import JSON
from evalcase.model.quick_dataclass import replace
from evalcase.model.result import Result
from evalcase.model.suite import Suite
from evalcase.model.target import Warn
from evalcase.plugins.graders import defaults_of, make_grader
from evalcase.project.config import Config, load_config
from evalcase.project.options import RunOptions, runs_folder
from evalcase.record.find import find_run
from evalcase.record.kept import KeptRun
from evalcase.record.seal import is_own
from evalcase.run.hashes import hash_question
from evalcase.run.selection import Selection
from evalcase.suites.collection import HeldSuites, SomeSuites
from evalcase.system.world import this_world
from evalcase.text.secrets import Scrubber


@declare.command("grade")
@declare.argument("run")
@declare.option(
    "--suite", "suites", multiple=True, metavar="PATH",
    help="Grade by the cases of these suites, found by their ids. Repeatable.",
)  # fmt: skip
@declare.option(
    "--grader", "graders", multiple=True, metavar="GRADER",
    help="Grade by this, in place of what cases say: a name, or YAML as in `graders`. Repeatable.",
)  # fmt: skip
@declare.option("--recorded", is_flag=True, help="Grade by the cases as the record holds them.")
@run_flags.max_cost("What judges may cost, with all that the run has spent.")
@run_flags.max_errors("Another number than that of `run`.")
@run_flags.fail_under("Another rate than that of `run`.")
@run_flags.no_exec
@run_flags.env_file("Take environment variables from this file.")
@trust_option
@report_option
@run_flags.runs_dir
@run_flags.quiet
@run_flags.as_json
@explain_errors
def command(
    run: str, suites: tuple[str, ...], graders: tuple[str, ...], recorded: bool,
    max_cost_usd: float | None, max_errors: int | None, fail_under: float | None, no_exec: bool,
    env_file: str | None, trust: bool, reports: tuple[str, ...],
    runs_dir: str | None, quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Grade the answers of a run again. No target is asked; judges are.

    The suites are those of the run, as they are now. Every grading is kept: `report RUN@1` shows
    the first one, `report RUN` the newest.

    The exit code is that of the run by its new grading, as `run` has it.

    \b
    evalcase grade latest                       by the suites as they are now
    evalcase grade latest@1 --recorded          by the cases as they were at first
    evalcase grade latest --grader "contains: Lima"
    """
    if recorded and suites:
        raise declare.WrongUsageError("--recorded and --suite both say which cases there are")
    wanted = request_reports(reports)
    manner = Manner(take_process(), quiet, as_json, is_new=False, reports=wanted)
    config = load_config(os.getcwd(), os.getcwd())
    folder = os.path.abspath(runs_folder(runs_dir, config))
    chosen, grading = find_run(run, folder)
    if grading is not None and not recorded:
        raise ConfigError(f"the cases of a grading are in the record: say --recorded with `{run}`")
    request, state = read_request(chosen), this_world().state
    if not trust and not is_own(chosen, state, config.root):
        # Graders that others wrote down may run code, and paths that they wrote may lead anywhere.
        if not graders and not suites:
            return refuse_stranger(chosen, request, state)
        recorded = not suites  # what is there to grade is then all that is used of the record
        request = RunOptions()  # what its record would let pass doesn't count
    paths = tuple(os.path.abspath(path) for path in suites)
    request = request.overridden_by(max_errors=max_errors, fail_under=fail_under)
    request = replace(
        request, max_cost_usd=max_cost_usd,
        env_file=os.path.abspath(env_file) if env_file else None,
        no_exec=no_exec or request.no_exec, fail_fast=False, cache=None,
    )  # fmt: skip
    with KeptRun(chosen, grading) as kept:
        held = _recorded_suites(kept) if recorded else None
        if held is not None and not graders and not trust:
            code = refuse_graders(chosen, (case for _, case in held), config)
            if code is not None:
                return code
        if not recorded and not suites:
            go_back(chosen, config)
            _require_paths(request.paths)
        given = Given(
            held, Nobody(),
            [make_grader(spec, defaults_of(config)) for spec in _read_graders(graders)],
            bool(graders), Nobody(),
        )  # fmt: skip
        answers = kept.count_answers()
        request = replace(request, targets=tuple(answers))
        if paths:
            request = replace(request, paths=paths, selection=Selection())
        view = make_view(manner.streams, quiet=manner.quiet or manner.as_json)
        with same_streams():
            scrubber = keep_secrets(config, view.warn, manner.streams)
            by_paths = not (suites or recorded)
            plan = _prepare(request, config, view.warn, given, scrubber, by_paths=by_paths)
        by = _graded_by(plan, kept, recorded=recorded, by_id=bool(suites), graders=graders)
        plan = replace(plan, trials={name: count for name, count in answers.items() if count})
        evaluation = Evaluation(plan, view, by)
        view.expect(plan.trials)
        go = partial(evaluation.carry_out, folder, chosen)
        return execute(evaluation, go, view, manner)


def _prepare(
    request: RunOptions,
    config: Config,
    warn: Warn,
    given: Given,
    scrubber: Scrubber,
    *,
    by_paths: bool,
) -> Plan:
    """The plan; if the folder of a run has no suites any more, say what is left to grade by."""
    try:
        return prepare(request, config, this_world(), warn, given, scrubber)
    except SuiteError as error:
        empty = [each.path for each in error.problems if each.code == "no-suites"]
        if not by_paths or not empty:
            raise
        what = f"{empty[0]} has no eval files any more"
        raise ConfigError(f"{what}. --recorded grades by what the record holds") from None


def _require_paths(paths: Sequence[str]) -> None:
    gone = [path for path in paths if not os.path.exists(path)]
    if gone:
        raise ConfigError(f"{gone[0]} is gone. --recorded grades by what the record holds")


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
            canonical_graders(part.data.get("graders", []))
        except SuiteError as error:
            problem = error.problems[0].message
            raise RecordError(
                f"{kept.run.journal}: case `{case.id}` can't be graded by its graders: {problem}"
            ) from None


def _graded_by(
    plan: Plan, kept: KeptRun, *, recorded: bool, by_id: bool, graders: Sequence[str]
) -> By:
    named = tuple(graders)
    if recorded:
        return By(kept.find_case, named, recorded=True)
    hashes = plan.suites.hashes()
    if by_id:
        by_ids = cases_by_id(plan.suites)
        by = By(lambda _, id: by_ids.get(id), named, suites=hashes)
    else:
        by_names = cases_by_name(plan.suites)
        by = By(lambda suite, id: by_names.get((suite, id)), named, suites=hashes)
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
