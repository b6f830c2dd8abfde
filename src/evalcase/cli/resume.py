"""`evalcase resume`, `grade` and `merge`: go on with a stored run, grade its answers again, put the
shards of a run together."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NoReturn

import click

from evalcase.api import prepare_run
from evalcase.cli.options import WrongUsageError, run_options, runs_dir_option
from evalcase.cli.running import Session, output_options
from evalcase.cli.terminal import find_project, print_lines, write_prose
from evalcase.config.config import Config, load_config
from evalcase.config.graders import make_grader, runs_code
from evalcase.config.options import RunOptions
from evalcase.errors import ConfigError, RecordError
from evalcase.report.evaluated import hold_to_gates, read_evaluated
from evalcase.runner.regrade import (
    GradingBasis,
    basis_of_broken,
    open_graded,
    parse_graders,
    recorded_suites,
    request_grading,
    settle_grading,
)
from evalcase.runner.resume import (
    describe_dropped,
    find_broken_grading,
    find_exit_code,
    read_request,
    request_rest,
)
from evalcase.store.folder import Run, find_sealer, is_own, is_run, left_no_record, why_unsealed
from evalcase.store.merge import merge_shards, read_shards
from evalcase.store.rows import GradingRow
from evalcase.store.runs import FoundRun, find_run, list_runs, newest_run, newest_unfinished
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.result import first_code
from evalcase.types.value import JSON, replace
from evalcase.util.environment import this_environment, wall_time
from evalcase.util.json import compact_encoder
from evalcase.util.text import make_visible, shorten_text

_to_json = compact_encoder()
_MOST_SHOWN, _LONGEST = 20, 300

trust_option = click.option(
    "--trust", is_flag=True, help="Use what the record names, even if somebody else made it."
)


def require_own(run: Run, config: Config) -> None:
    """Unless a run is this user's own, say what its record names, and use nothing of it."""
    if is_own(run, this_environment().state, config.root):
        return
    request = read_request(run)
    where = "by you on this machine and in this folder, or was changed since"
    write_prose(f"evalcase: {run.path} was not made {where}")
    if why := why_unsealed(run, this_environment().state):
        write_prose(why)
    default = run.about.default_target
    named = {
        "target": request.targets or ([default] if default else []),
        "env file": [request.env_file] if request.env_file is not None else [],
        "folder": [run.about.cwd],
        "path": request.paths,
    }
    _refuse("continuing it would use:", named)


def _refuse(what: str, named: Mapping[str, Sequence[str]]) -> NoReturn:
    """Each text of a stranger stands on one line, and has a sane length."""
    print_lines([what], sys.stderr)
    for kind, values in named.items():
        for value in values[:_MOST_SHOWN]:
            print_lines([f"  {kind:<9} {make_visible(shorten_text(value, _LONGEST))}"], sys.stderr)
        if len(values) > _MOST_SHOWN:
            print_lines([f"  {kind:<9} and {len(values) - _MOST_SHOWN:,} more"], sys.stderr)
    print_lines(["nothing was done; if you trust the record, add --trust"], sys.stderr)
    raise click.exceptions.Exit(2)


def _specs_of(cases: Iterable[Case]) -> Iterator[Mapping[str, JSON]]:
    for case in cases:
        for part in case.graded_parts:
            yield from part._data.get("graders", ())


def _require_harmless(run: Run, graders: Iterable[Mapping[str, JSON]], config: Config) -> None:
    """Refuse graders of a journal that would run code, or ask whom the configuration doesn't name.

    A seal is of what was asked for, and not of what came: anybody can add a case to a journal.
    """
    known = {*config.targets, *([config.judge.target] if config.judge is not None else [])}
    named = {_to_json(spec): make_grader(spec, config) for spec in graders}
    found = [
        text for text, each in named.items()
        if runs_code(each) or not known.issuperset(each.grader.asks())
    ]  # fmt: skip
    if found:
        why = "that would run code, or ask targets that the configuration does not name"
        _refuse(f"evalcase: {make_visible(run.path)} names graders {why}:", {"grader": found})


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
@run_options(
    max_cost_usd="Limit the cost of judges, including what the run has already spent.",
    max_errors="Override the value of `run`.",
    fail_under="Override the rate of `run`.",
    env_file="Read environment variables from this file.",
)
@run_options("no_exec", "runs_dir")
@trust_option
@output_options
def grade_command(
    run: str, suites: tuple[str, ...], graders: tuple[str, ...], recorded: bool, trust: bool,
    **asked: Any,  # noqa: ANN401 - each of its option's type
) -> int:  # fmt: skip
    """Grade the answers of a run again, without calling targets. Judges are called.

    By default, the suites of the run are used as they are now. Every grading is kept: `report
    RUN@1` shows the first one, `report RUN` the newest.

    The exit code is that of `run`, for the new grading.

    \b
    evalcase grade latest                       by the suites as they are now
    evalcase grade latest@1 --recorded          by the cases as they were at first
    evalcase grade latest --grader "contains: Lima"
    """
    if recorded and suites:
        raise WrongUsageError("--recorded and --suite can't be combined")
    config = load_config(os.getcwd(), os.getcwd())
    session = _open_session(config, asked)
    found, grading = find_run(run, session.folder)
    if grading is not None and not recorded:
        said = f"say --recorded with `{run}`"
        raise ConfigError(f"the cases of a grading are stored in the record: {said}")
    basis = GradingBasis(read_request(found), suites, graders, recorded=recorded)
    if not trust and not (graders or suites):
        require_own(found, config)
    elif not trust and not is_own(found, this_environment().state, config.root):
        basis = basis.of_stranger()
    with open_graded(found, grading) as kept:
        return _grade_answers(session, kept, basis, asked, trust=trust)


def _open_session(config: Config, asked: dict[str, Any]) -> Session:
    """A session that may go on in another folder."""
    if asked["env_file"] is not None:
        asked["env_file"] = os.path.abspath(asked["env_file"])
    return Session(config, asked)


def _finish_grading(
    session: Session, run: Run, broken: GradingRow, asked: Mapping[str, Any], *, trust: bool
) -> int:
    """Go on with a grading that was broken off, by what it was begun by. The journal says that, and
    has no seal: graders that it names are held to what those of recorded cases are."""
    basis = basis_of_broken(run, broken, read_request(run))
    if not trust:
        _require_harmless(run, parse_graders(broken.graders), session.config)
    with StoredRun(run, broken.cases_of) as kept:
        return _grade_answers(session, kept, basis, asked, trust=trust)


def _grade_answers(
    session: Session, kept: StoredRun, basis: GradingBasis, asked: Mapping[str, Any], *, trust: bool
) -> int:
    """Grade all answers that are kept once more, with the options of the run, but for what is said
    now. What judges may cost is said anew."""
    options = replace(basis.options, max_cost_usd=None, env_file=None).override(asked)
    # A grading doesn't end early, and uses no cache.
    basis = basis._replace(options=replace(options, fail_fast=False, cache=None))
    held = recorded_suites(kept) if basis.recorded else None
    if held is not None and not basis.graders and not trust:
        _require_harmless(kept.run, _specs_of(case for _, case in held), session.config)
    if basis.is_as_now:
        session.go_back(kept.run)
    request = request_grading(session.request(basis.options), kept, basis, held)
    plan, by = settle_grading(session.plan(request), kept, basis)
    session.view.expect(plan.trials)
    return session.execute(prepare_run(request, plan, by))


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
    run: str | None, retry_errored: bool, trust: bool, **asked: Any,  # noqa: ANN401 - each of its option's type
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
    config = load_config(os.getcwd(), os.getcwd())
    session = _open_session(config, asked)
    chosen = _choose_run(run, session.folder, errored=retry_errored)
    if not trust:
        # If no run is named, the newest decides about the exit code, too.
        newest = [] if run is not None else [each.run for each in list_runs(session.folder, 1)]
        for each in filter(None, (*newest, chosen)):
            require_own(each, config)
    if chosen is None:
        sys.stderr.write("there is no run to continue; `evalcase run` creates one\n")
        return 2
    broken = find_broken_grading(chosen)
    if broken is not None and broken.origin == "grade":
        code = _finish_grading(session, chosen, broken, asked, trust=trust)
    else:
        options = read_request(chosen).override(asked)
        session.go_back(chosen)
        request = session.request(options)
        request = request_rest(request, chosen, retry_errored=retry_errored)
        execution = prepare_run(request, session.plan(request))
        if dropped := describe_dropped(chosen):
            session.view.tell(dropped)
        code = session.execute(execution)
    return code if run is not None else first_code(code, _code_of_newest(session.folder, chosen))


def _code_of_newest(folder: str, chosen: Run) -> int:
    """The exit code of the newest run, if that is another than the chosen one: to go on with an
    older one doesn't make it better. A run that was refused has no record, and is newer."""
    newest, code = newest_run(folder), 0
    if newest is None:
        return 0
    if newest.path != chosen.path:
        code = find_exit_code(newest)
    if code:
        write_prose(f"the newest run is a different one, {newest.id}: its exit code is {code}")
    if not left_no_record(folder, newest):
        return code
    write_prose(
        "the last `evalcase run` was refused, or ended before it had a record: the exit code is 2"
    )
    return first_code(code, 2)


def _choose_run(name: str | None, folder: str, *, errored: bool) -> Run | None:
    """The run of a name; or the newest that is not finished, else the newest. Raise ConfigError
    where the name is that of a grading."""
    if name is None:
        return newest_unfinished(folder, errored=errored) or newest_run(folder)
    run, grading = find_run(name, folder)
    if grading is not None:
        raise ConfigError(f"resume continues a run, not one of its gradings: say `{run.id}`")
    return run


@click.command("merge")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--partial", is_flag=True,
    help="Merge the shards there are into an incomplete run, which `resume` can complete.",
)  # fmt: skip
@runs_dir_option
@output_options
def merge_command(runs: tuple[str, ...], partial: bool, **asked: Any) -> int:  # noqa: ANN401 - each of its option's type
    """Merge the shards of a run into one.

    RUNS are runs made with --shard, given by id or folder, or folders of such runs. The result is
    a run like any other, stored with the other runs; the shards are not changed.

    \b
    evalcase run --shard 1/3 --runs-dir shards   on the first of three machines
    evalcase merge shards                        all shards in that folder
    evalcase merge shards --partial              without one that was lost

    The exit code is 2 if shards don't belong together or one is given twice (both are named), 3 if
    one is missing or not complete and --partial is not given, and otherwise that of an unsharded
    run.
    """
    (config, folder), environment = find_project(asked["runs_dir"]), this_environment()
    session = Session(config, asked)
    with ExitStack() as stack:
        named = [each for name in runs for each in _find_runs(name, folder)]
        found = {os.path.realpath(each.run.path): each for each in named}  # each once
        stored = [stack.enter_context(StoredRun(*each)) for each in found.values()]
        shards = read_shards(stored)
        if (lacks := shards.lacks()) and not partial:
            raise RecordError(f"{'; '.join(lacks)}. --partial merges what is there")
        for warning in shards.other_versions():
            write_prose(f"warning: {warning}")
        sealer = None  # nothing seals the result if any of it is a stranger's
        if all(is_own(each.run, environment.state, config.root) for each in stored):
            sealer = find_sealer(environment.state, config.root, make=True)
        run = merge_shards(shards, folder, config.root, now=wall_time(), sealer=sealer)
    options = RunOptions.from_dict(run.about.options)
    evaluated = hold_to_gates(read_evaluated(StoredRun(run)), options)
    session.reader = session.reader._replace(is_own=sealer is not None)
    return first_code(evaluated.exit_code, session.conclude(evaluated))


def _find_runs(name: str, folder: str) -> list[FoundRun]:
    if not os.path.isdir(name) or is_run(name):
        return [find_run(name, folder)]
    runs = []
    for each in list_runs(os.path.abspath(name)):
        if each.run is None:
            raise RecordError(each.problem)
        runs.append(FoundRun(each.run, None))
    if not runs:
        raise ConfigError(f"the folder {name} has no runs")
    return runs
