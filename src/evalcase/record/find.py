"""The runs in a folder, newest first; and the one that a person means by a name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import groupby, islice
from typing import NamedTuple

from evalcase.errors import ConfigError, RecordError
from evalcase.model.nearest import find_nearest
from evalcase.model.value import Value
from evalcase.record.ending import read_end
from evalcase.record.folder import RUN_ID, Run, read_run
from evalcase.record.index import read_totals
from evalcase.record.kept import KeptRun
from evalcase.text.counted import list_some

_PLACES = {"latest": 0, "previous": 1}
"""Names that count from the newest run."""
_NAMED = 5
_SECOND = 15
"""How much of an id says when its run was begun."""


class ListedRun(Value, frozen=True):
    id: str
    path: str
    run: Run | None
    problem: str = ""
    """Why it is damaged."""
    grading: int | None = None
    """Which of its gradings is listed; None for the newest."""

    @property
    def status(self) -> str:
        """What the last row says of how it ended; `incomplete`; `damaged`. It is read when it is
        asked for: most who list runs have other questions."""
        return "damaged" if self.run is None else read_end(self.run.journal).status


class FoundRun(NamedTuple):
    run: Run
    grading: int | None
    """The grading that was asked for; None for the newest."""


def list_runs(runs_dir: str, most: int | None = None) -> list[ListedRun]:
    """Every run in a folder, or so many, newest first. One that can't be read is listed as
    damaged."""
    return list(islice(newest_runs(runs_dir), most if most is None else min(most, sys.maxsize)))


def count_runs(runs_dir: str) -> int:
    """How many runs a folder has."""
    return len(_read_names(runs_dir))


def newest_runs(runs_dir: str) -> Iterator[ListedRun]:
    """The same, one by one: only what is asked for is read."""
    names = sorted(_read_names(runs_dir), reverse=True)
    for _, same in groupby(names, key=lambda name: name[:_SECOND]):
        paths = [os.path.join(runs_dir, name) for name in same]
        yield from sorted((_read_listed(path) for path in paths), key=_age_of_run, reverse=True)


def newest_unfinished(runs_dir: str, *, errored: bool = False) -> Run | None:
    """The run that `resume` goes on with when none is named: the newest that is not complete; with
    `errored`, or that has errored trials."""
    for place, listed in enumerate(newest_runs(runs_dir)):
        run = listed.run
        if run is None:
            continue
        # To count the results of all runs there are would take long; that of the newest is asked
        # for.
        status = KeptRun(run).end.status if not place else listed.status
        if status != "completed" or (errored and _has_errored(run)):
            return run
    return None


def newest_run(runs_dir: str) -> Run | None:
    """The newest run of all. Raise RecordError if it can't be read."""
    for listed in newest_runs(runs_dir):
        if listed.run is None:
            raise RecordError(listed.problem)
        return listed.run
    return None


def _has_errored(run: Run) -> bool:
    errored = read_end(run.journal).errored
    return bool(read_totals(run.journal).trials.errored if errored is None else errored)


def find_run(name: str, runs_dir: str) -> FoundRun:
    """The run of a name: its id, a part of it that no other has, its folder, `latest`, `previous`;
    each may be followed by `@` and the number of a grading.

    Raise ConfigError if there is none, or several; RecordError if its record can't be read.
    """
    whole = _find_path(name, runs_dir)
    if whole is not None:
        return FoundRun(read_run(whole), None)
    before, at, number = name.rpartition("@")
    if at and number.isascii() and number.isdigit() and len(number) < 10:
        path = _find_path(before, runs_dir)
        if path is not None:
            return FoundRun(read_run(path), int(number))
        name = before
    raise ConfigError(_explain_unknown(name, runs_dir))


def _find_path(name: str, runs_dir: str) -> str | None:
    """The folder of a run; None if there is none of that name."""
    if name in _PLACES:
        runs = list_runs(runs_dir, _PLACES[name] + 1)
        return runs[_PLACES[name]].path if len(runs) > _PLACES[name] else None
    inside = os.path.join(runs_dir, name)
    if RUN_ID.fullmatch(name) and os.path.isdir(inside):
        return inside
    if os.path.exists(os.path.join(name, "run.json")):
        return os.path.abspath(name)
    if name and os.sep in name and os.path.isdir(name):
        raise ConfigError(f"{name} is not a run: it has no run.json")
    alike = [each for each in _read_names(runs_dir) if name and name in each]
    if len(alike) > 1:
        raise ConfigError(f"`{name}` matches several runs: {_list_several(sorted(alike))}")
    return os.path.join(runs_dir, alike[0]) if alike else None


def _explain_unknown(name: str, runs_dir: str) -> str:
    """That there is no such run, and which one may be meant."""
    known = sorted(_read_names(runs_dir), reverse=True)
    if not known:
        return f"there is no run `{name}`: {runs_dir} has none; `evalcase run` creates one"
    if name in _PLACES:
        return f"there is no {name} run in {runs_dir}: {known[0]} is the only one"
    return (
        f"there is no run `{name}` in {runs_dir}; the nearest is {find_nearest(name, known, 0.0)}"
    )


def _list_several(names: list[str]) -> str:
    return list_some(names[:_NAMED], len(names))


def _read_names(runs_dir: str) -> list[str]:
    try:
        names = os.listdir(runs_dir)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(f"{runs_dir} can't be read: {error.strerror or error}") from error
    return [name for name in names if RUN_ID.fullmatch(name)]


def _read_listed(path: str) -> ListedRun:
    name = os.path.basename(path)
    try:
        run = read_run(path)
    except RecordError as error:
        return ListedRun(name, path, None, str(error))
    return ListedRun(name, path, run)


def _age_of_run(listed: ListedRun) -> tuple[str, str, str]:
    """Runs of the same second are told apart by what run.json says."""
    return listed.id[:_SECOND], listed.run.created_at if listed.run else "", listed.id
