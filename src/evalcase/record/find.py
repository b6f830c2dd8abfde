"""The runs in a folder, newest first, and how far each of them came."""

from __future__ import annotations

import os
from dataclasses import dataclass

from evalcase.errors import RecordError
from evalcase.record.disk import open_file
from evalcase.record.folder import RUN_ID, Run, read_run
from evalcase.record.row import decode_row, fault_in

END = 64 * 1024
"""Bytes at the end of a journal among which an `end` row is looked for; it has about a hundred."""


@dataclass(frozen=True, slots=True)
class Listed:
    id: str
    path: str
    status: str
    """`completed` or whatever else the last row says; `incomplete`; `damaged`."""
    run: Run | None
    problem: str = ""
    """Why it is damaged."""


def list_runs(runs_dir: str) -> list[Listed]:
    """Every run in a folder, newest first. One that can't be read is listed as damaged."""
    try:
        names = os.listdir(runs_dir)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(f"{runs_dir} can't be read: {error.strerror or error}") from error
    folders = [os.path.join(runs_dir, name) for name in names if RUN_ID.fullmatch(name)]
    return sorted((_listed(path) for path in folders), key=_age, reverse=True)


def newest_incomplete(runs_dir: str) -> Run | None:
    """The run that `resume` goes on with when none is named."""
    for listed in list_runs(runs_dir):
        if listed.run is not None and listed.status != "completed":
            return listed.run
    return None


def read_status(journal: str) -> str:
    """What the `end` row says, if that is the last row; else `incomplete`."""
    try:
        with open_file(journal) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - END))
            end = file.read()
    except OSError:
        return "incomplete"  # killed before the first row, or for `totals` to complain about
    line = end[end.rfind(b"\n", 0, -1) + 1 :]
    if fault_in(line) is not None:
        return "incomplete"
    try:
        row = decode_row(line)
    except ValueError:
        return "incomplete"
    status = row.get("status")
    return status if row.get("type") == "end" and isinstance(status, str) else "incomplete"


def _listed(path: str) -> Listed:
    name = os.path.basename(path)
    try:
        run = read_run(path)
    except RecordError as error:
        return Listed(name, path, "damaged", None, str(error))
    return Listed(name, path, read_status(run.journal), run)


def _age(listed: Listed) -> tuple[str, str, str]:
    """Runs of the same second are told apart by what run.json says."""
    return listed.id[:15], listed.run.created_at if listed.run else "", listed.id
