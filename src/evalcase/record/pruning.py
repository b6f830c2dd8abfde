"""Runs of a folder in, out which of them are old enough to go; and their removal, one by one.

What may still be needed stays: a run that is being written, one that can be gone on with, and
whatever can't be read. A folder is given another name before anything in it is removed, so that no
half of a run is ever taken for one.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from evalcase.errors import RecordError
from evalcase.model.value import Value
from evalcase.record.find import ListedRun, list_runs
from evalcase.record.folder import journal_of
from evalcase.record.lock import lock_journal, unlock_journal
from evalcase.system.files import open_file

_GOING = ".pruned-"
"""Before the name of a run that is being removed."""


class Keeping(Value, frozen=True):
    """Which runs stay: as many of the newest, and those that are not older; None asks nothing."""

    newest: int | None
    younger_than: timedelta | None
    incomplete: bool
    """Whether those stay that are not complete, however old."""


class Old(Value, frozen=True):
    """A run that need not stay."""

    run: ListedRun
    bytes: int
    kept_for: str = ""
    """Why it stays all the same; empty if it goes."""


def find_old(runs_dir: str, keeping: Keeping, now: datetime) -> list[Old]:
    """The runs that need not stay, newest first."""
    runs = list_runs(runs_dir)[keeping.newest or 0 :]
    if keeping.younger_than is not None:
        before = now - keeping.younger_than
        runs = [run for run in runs if _time_of_run(run) < before]
    return [Old(run, _measure_folder(run.path), _why_kept(run, keeping)) for run in runs]


def remove_run(run: ListedRun) -> None:
    """Remove a run for good. Raise RecordError if it is being written, or can't be removed."""
    going = os.path.join(os.path.dirname(run.path), _GOING + run.id)
    journal = journal_of(run.path)
    try:
        _rename_locked(run.path, going, journal)
        shutil.rmtree(going)
    except OSError as error:
        raise RecordError(f"{run.path} can't be removed: {error.strerror or error}") from error


def sweep_rests(runs_dir: str) -> None:
    """Remove what is left of runs whose removal was interrupted."""
    with suppress(FileNotFoundError):
        for name in os.listdir(runs_dir):
            path = os.path.join(runs_dir, name)
            if name.startswith(_GOING) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)


def _rename_locked(path: str, going: str, journal: str) -> None:
    """Nobody may begin to write to what is about to go."""
    try:
        file = open_file(journal, links=False)
    except FileNotFoundError:  # a run that ended before it had a result
        os.rename(path, going)
        return
    descriptor = os.dup(file.fileno())
    file.close()
    try:
        lock_journal(descriptor, journal)
        os.rename(path, going)
    finally:
        unlock_journal(descriptor, os.path.join(going, os.path.basename(journal)))


def _time_of_run(run: ListedRun) -> datetime:
    """By its name, or by run.json if that is earlier: after a clock that was ahead, names are too
    late. What is no time counts as young."""
    times = [datetime.max.replace(tzinfo=UTC)]
    with suppress(ValueError):
        times.append(datetime.strptime(run.id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC))
    with suppress(ValueError):
        created_at = run.run.created_at if run.run is not None else ""
        times.append(datetime.fromisoformat(created_at).replace(tzinfo=UTC))
    return min(times)


def _why_kept(run: ListedRun, keeping: Keeping) -> str:
    if os.path.islink(run.path):
        return "it is a link"
    if run.run is None:
        return "it can't be read"
    if keeping.incomplete and run.status != "completed":
        return "it is not complete"
    return ""


def _measure_folder(path: str) -> int:
    """Of all files in a folder; what can't be seen counts nothing."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total
