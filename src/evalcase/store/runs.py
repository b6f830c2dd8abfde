"""The runs in a folder, newest first: the run that a user names, the run to compare with, and the
removal of old runs."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple

from evalcase.errors import ConfigError, RecordError
from evalcase.store.folder import RUN_ID, Run, describe_part, folder_of_run, read_run
from evalcase.store.reader import lock_journal, read_end, unlock_journal
from evalcase.store.stored import StoredRun
from evalcase.types.problem import find_nearest
from evalcase.types.value import Value
from evalcase.util.files import open_file
from evalcase.util.json import JOURNAL
from evalcase.util.text import list_some

_PLACES = {"latest": 0, "previous": 1}
"""Names that count from the newest run."""
_NAMED = 5
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_PRUNED = ".pruned-"
"""The start of the name of a run that is being removed."""


class ListedRun(Value, frozen=True):
    id: str
    path: str
    run: Run | None
    problem: str = ""
    """Why it is damaged."""
    grading: int | None = None
    """The grading that is listed; None for the newest."""

    @property
    def status(self) -> str:
        """The status in the last row of the journal; or `incomplete`, or `damaged`."""
        return "damaged" if self.run is None else read_end(self.run.journal).status


class FoundRun(NamedTuple):
    run: Run
    grading: int | None
    """The grading in `RUN@GRADING`; None for the newest."""


# Lists.


def list_runs(runs_dir: str, most: int | None = None) -> list[ListedRun]:
    """The runs in a folder, newest first. One that can't be read is listed as damaged."""
    return list(islice(newest_runs(runs_dir), most if most is None else min(most, sys.maxsize)))


def count_runs(runs_dir: str) -> int:
    return len(_read_names(runs_dir))


def newest_runs(runs_dir: str) -> Iterator[ListedRun]:
    """The same one by one, each read when it is asked for."""
    for name in sorted(_read_names(runs_dir), reverse=True):
        path = os.path.join(runs_dir, name)
        try:
            yield ListedRun(name, path, read_run(path))
        except RecordError as error:
            yield ListedRun(name, path, None, str(error))


def newest_run(runs_dir: str) -> Run | None:
    """The newest run of all. Raise RecordError if it can't be read."""
    newest = next(newest_runs(runs_dir), None)
    if newest is not None and newest.run is None:
        raise RecordError(newest.problem)
    return None if newest is None else newest.run


def newest_unfinished(runs_dir: str, *, errored: bool = False) -> Run | None:
    """The newest run that is not complete; with `errored`, or that has errored trials."""
    for listed in newest_runs(runs_dir):
        if listed.run is None:
            continue
        end = read_end(listed.run.journal)
        if end.status != "completed":
            return listed.run
        if errored:
            count = end.errored
            if StoredRun(listed.run).totals.trials.errored if count is None else count:
                return listed.run
    return None


def _read_names(runs_dir: str) -> list[str]:
    try:
        names = os.listdir(runs_dir)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(f"{runs_dir} can't be read: {error.strerror or error}") from error
    return [name for name in names if RUN_ID.fullmatch(name)]


# The run of a name.


def find_run(name: str, runs_dir: str) -> FoundRun:
    """The run that a user names: by its folder, its id or a part of it, its name, at least seven
    digits of its commit, `latest` or `previous`; each may be followed by `@` and the number of a
    grading. Of several runs with one name or commit, the newest.

    Raise ConfigError if there is none, or if it isn't clear; RecordError if it can't be read.
    """
    path, grading = _find_path(name, runs_dir), None
    before, at, number = name.rpartition("@")
    if path is None and at and number.isascii() and number.isdigit() and len(number) < 10:
        name, grading = before, int(number)
        path = _find_path(name, runs_dir)
    if path is None:
        raise ConfigError(_explain_unknown(name, runs_dir))
    return FoundRun(read_run(path), grading)


def _find_path(name: str, runs_dir: str) -> str | None:
    if name in _PLACES:
        place = next(islice(newest_runs(runs_dir), _PLACES[name], None), None)
        return None if place is None else place.path
    if RUN_ID.fullmatch(name) and os.path.isdir(os.path.join(runs_dir, name)):
        return os.path.join(runs_dir, name)
    found = _find_all(name, runs_dir) if name else []
    matches = {os.path.realpath(path): path for path, _ in found}
    if len(matches) > 1:
        several = list_some(
            [os.path.basename(path) + (f" ({why})" if why else "") for path, why in found[:_NAMED]],
            len(found),
        )
        raise ConfigError(f"`{name}` matches several runs: {several}")
    if not matches and os.sep in name and os.path.isdir(name):
        raise ConfigError(f"{name} is not a run: it has no run.json")
    return next(iter(matches.values()), None)


def _find_all(name: str, runs_dir: str) -> list[tuple[str, str]]:
    """The folders of the runs that a text may mean, and what it is of each but a part of the id."""
    found = [(os.path.join(runs_dir, id), "") for id in _read_names(runs_dir) if name in id]
    if os.path.exists(os.path.join(name, "run.json")):
        found.append((os.path.abspath(name), "folder"))
    newest: dict[tuple[str, str], str] = {}
    for listed in newest_runs(runs_dir):
        if listed.run is not None and listed.run.about.name == name:
            newest.setdefault(("name", name), listed.path)
        commit = listed.run.about.commit or "" if listed.run is not None else ""
        if _COMMIT.fullmatch(name) and commit.startswith(name):
            newest.setdefault(("commit", commit), listed.path)
    return found + [(path, why) for (why, _), path in newest.items()]


def _explain_unknown(name: str, runs_dir: str) -> str:
    known = sorted(_read_names(runs_dir), reverse=True)
    if not known:
        return f"there is no run `{name}`: {runs_dir} has none; `evalcase run` creates one"
    if name in _PLACES:
        return f"there is no {name} run in {runs_dir}: {known[0]} is the only one"
    runs = [each.run for each in newest_runs(runs_dir) if each.run is not None]
    names = dict.fromkeys(run.about.name for run in runs if run.about.name is not None)
    every = [*names, *known]
    nearest = find_nearest(name, every)
    hint = (
        f"the nearest is {nearest}"
        if nearest
        else f"it has {list_some(every[:_NAMED], len(every))}"
    )
    return f"there is no run `{name}` in {runs_dir}; {hint}"


# The run to compare with.


def choose_base(runs_dir: str) -> tuple[str, int] | None:
    """The run to compare the newest with: the newest before it that was to have the same cases, and
    a target to compare; and how many newer runs have others. None where there is none. A run that
    can't be read is chosen, so that the user learns of it."""
    runs = newest_runs(runs_dir)
    newest = next(runs, None)
    if newest is None or newest.run is None:
        return None
    for passed_over, listed in enumerate(runs):
        if listed.run is None or _covers(listed.run, newest.run):
            return listed.path, passed_over
    return None


def _covers(base: Run, head: Run) -> bool:
    """Whether a run was to have all cases of another, on a target that can be compared, as far as
    the two records say."""
    if not _suites(head) <= _suites(base):
        return False
    several = {len(base.about.targets), len(head.about.targets)} != {1}
    if several and not set(base.about.targets) & set(head.about.targets):
        return False
    return not describe_part(base) or _selection(base) == _selection(head)


def _suites(run: Run) -> set[str]:
    folder = folder_of_run(run)
    return {os.path.normpath(os.path.join(folder, name)) for name in run.about.suites}


def _selection(run: Run) -> object:
    """What was selected. A seed without a sample is no part of it."""
    selection = run.about.options.get("selection")
    if isinstance(selection, dict) and selection.get("sample") is None:
        return {name: value for name, value in selection.items() if name != "seed"}
    return selection


# Old runs.


class OldRun(Value, frozen=True):
    run: ListedRun
    bytes: int
    kept_for: str = ""
    """Why it stays all the same; empty if it goes."""


def find_old(
    runs_dir: str, now: datetime, keep: int | None, older_than: timedelta | None, *,
    incomplete: bool,
) -> list[OldRun]:  # fmt: skip
    """The runs but so many of the newest, and of those the older ones. Some stay all the same:
    unless `incomplete` ones may go, those that are not complete, too."""
    runs = list_runs(runs_dir)[keep or 0 :]
    if older_than is not None:
        # An id begins with its date and time.
        before = f"{now - older_than:%Y%m%d-%H%M%S}"
        runs = [run for run in runs if run.id < before]
    found = []
    for run in runs:
        why = ""
        if os.path.islink(run.path):
            why = "it is a link"
        elif run.run is None:
            why = "it can't be read"
        elif not incomplete and run.status != "completed":
            why = "it is not complete"
        files = [
            os.path.join(folder, name) for folder, _, names in os.walk(run.path) for name in names
        ]
        size = sum(os.lstat(each).st_size for each in files if os.path.lexists(each))
        found.append(OldRun(run, size, why))
    return found


def remove_run(run: ListedRun) -> None:
    """Remove a run. Raise RecordError if it is being written, or can't be removed."""
    # It is renamed first, so that no half of a run is taken for one.
    going = os.path.join(os.path.dirname(run.path), _PRUNED + run.id)
    try:
        _rename_locked(run.path, going)
        shutil.rmtree(going)
    except OSError as error:
        raise RecordError(f"{run.path} can't be removed: {error.strerror or error}") from error


def _rename_locked(path: str, going: str) -> None:
    """Rename a run while no other process can start to write it."""
    journal = os.path.join(path, JOURNAL)
    try:
        with open_file(journal, links=False) as file:
            fd = os.dup(file.fileno())
    except FileNotFoundError:  # it ended before its first result
        os.rename(path, going)
        return
    try:
        lock_journal(fd, journal)
        os.rename(path, going)
    finally:
        unlock_journal(fd, os.path.join(going, JOURNAL))


def remove_rests(runs_dir: str) -> None:
    """Remove the rests of runs whose removal was interrupted."""
    with suppress(FileNotFoundError):
        for name in os.listdir(runs_dir):
            path = os.path.join(runs_dir, name)
            if name.startswith(_PRUNED) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
