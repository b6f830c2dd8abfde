"""A note beside the runs of when one was last begun: where it was refused, or ended before it had a
record, `resume` must not take the run before it for the newest word."""

from __future__ import annotations

import os
from contextlib import suppress

from evalcase.record.folder import Run, write_time
from evalcase.system.disk import LocalDisk, write_atomically
from evalcase.system.files import read_file

_LONGEST = 40


def note_start(runs_dir: str, now: float) -> None:
    """Note when a run is begun, in seconds since 1970. Where there are no runs yet, nobody could
    be misled."""
    # A link may lead anywhere: runs may have come with somebody else's project.
    if os.path.isdir(runs_dir) and not os.path.islink(_path_of_note(runs_dir)):
        with suppress(OSError):  # the run itself will tell
            write_atomically(
                _path_of_note(runs_dir), write_time(now).encode(), LocalDisk(), durable=False
            )


def left_no_record(runs_dir: str, newest: Run) -> bool:
    """Whether a run was begun after the newest one that has a record."""
    from datetime import datetime

    try:
        at = read_file(_path_of_note(runs_dir), _LONGEST, links=False).decode()
        return datetime.fromisoformat(at) > datetime.fromisoformat(newest.created_at)
    except (OSError, TypeError, ValueError):
        return False  # there is no note, or none of ours


def _path_of_note(runs_dir: str) -> str:
    return os.path.join(runs_dir, "begun")
