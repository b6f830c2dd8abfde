"""A note beside the runs that a later one was refused before it began: `resume` must not take the
run before it for the newest word."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime

from evalcase.record.folder import Run
from evalcase.system.disk import LocalDisk, write_atomically
from evalcase.system.files import read_file

_LONGEST = 40


def note_refusal(runs_dir: str, now: datetime) -> None:
    """Note when a run was refused. Where there are no runs yet, nobody could be misled."""
    # A link may lead anywhere: runs may have come with somebody else's project.
    if os.path.isdir(runs_dir) and not os.path.islink(_note(runs_dir)):
        with suppress(OSError):  # the refusal itself is told anyway
            write_atomically(_note(runs_dir), now.isoformat().encode(), LocalDisk())


def was_refused_since(runs_dir: str, newest: Run) -> bool:
    """Whether a run was refused after the newest one had begun."""
    try:
        at = read_file(_note(runs_dir), _LONGEST, links=False).decode()
        return datetime.fromisoformat(at) > datetime.fromisoformat(newest.created_at)
    except (OSError, TypeError, ValueError):
        return False  # there is no note, or none of ours


def _note(runs_dir: str) -> str:
    return os.path.join(runs_dir, "refused")
