"""Records in, the run that is gone on with out, with what it was begun with and where."""

from __future__ import annotations

from evalcase.config.options import RunOptions
from evalcase.errors import ConfigError, RecordError
from evalcase.evaluation.request import RunRequest
from evalcase.store.folder import Run, is_own
from evalcase.store.reader import has_gradings, read_end
from evalcase.store.rows import GradingRow
from evalcase.store.runs import find_run, list_runs, newest_run, newest_unfinished
from evalcase.types.result import Verdict
from evalcase.types.value import replace


def choose_run(name: str | None, folder: str, *, errored: bool) -> Run | None:
    """The run that is named; or the newest that is not finished, else the newest. Raise ConfigError
    where one of its gradings is named."""
    if name is None:
        return newest_unfinished(folder, errored=errored) or newest_run(folder)
    run, grading = find_run(name, folder)
    if grading is not None:
        raise ConfigError(f"resume continues a run, not one of its gradings: say `{run.id}`")
    return run


def find_stranger(
    chosen: Run | None, folder: str, root: str, state: str | None, *, is_named: bool
) -> Run | None:
    """A run of somebody else's that would be gone on with. Where none is named, the newest has a
    say in the exit code, and a stranger's could make it better."""
    newest = [] if is_named else [listed.run for listed in list_runs(folder, 1)]
    for run in (*newest, chosen):
        if run is not None and not is_own(run, state, root):
            return run
    return None


def read_request(run: Run) -> RunOptions:
    """What was asked for when a run was begun. Raise RecordError if the record doesn't say."""
    try:
        return RunOptions.from_dict(run.about.options)
    except (ConfigError, ValueError) as error:
        raise RecordError(f"{run.path}: run.json does not say what was run: {error}") from None


def request_rest(request: RunRequest, run: Run, *, retry_errored: bool) -> RunRequest:
    """A request for what is left of a run. Its targets are those it began with, whatever the
    configuration says by now."""
    config = replace(request.config, target=run.about.default_target)
    again: tuple[Verdict, ...] = ("errored",) if retry_errored else ()
    return replace(request, config=config, run=run, again=again)


def find_broken_grading(run: Run) -> GradingRow | None:
    """The newest grading of a run, if it was broken off."""
    if not has_gradings(run.journal):
        return None  # most runs have none, and who goes on with them reads the journal himself
    from evalcase.store.stored import StoredRun

    return StoredRun(run).find_interrupted()


def describe_dropped(run: Run) -> str:
    """What was decided of a run, and no longer counts when it goes on; empty if nothing was."""
    decision = read_end(run.journal).decision
    if decision is None:
        return ""
    return f"the run was {decision}. That is dropped, and the rest is run now"


def find_exit_code(run: Run) -> int:
    """The exit code of a run as it stands, by what was asked for when it was begun."""
    from evalcase.evaluation.evaluated import hold_to_gates, read_evaluated
    from evalcase.store.stored import StoredRun

    return hold_to_gates(read_evaluated(StoredRun(run)), read_request(run)).exit_code
