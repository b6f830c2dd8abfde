"""A note in the folder of a run of reports that were asked for and could not be written: a `resume`
that finds nothing left to do must not be green for want of them."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress

from evalcase.record.folder import Run
from evalcase.system.disk import LocalDisk, write_atomically
from evalcase.system.files import read_file

_LONGEST = 1000


def note_owed(run: Run, forms: Collection[str]) -> None:
    """Note which forms of reports are still to be written; without any, take the note away."""
    path = _path_of_note(run)
    with suppress(OSError):  # who asked for them is told besides
        if not forms:
            if os.path.lexists(path):
                os.unlink(path)
        # A link may lead anywhere: the run may have come with somebody else's project.
        elif not os.path.islink(path):
            data = "\n".join(sorted(forms)).encode()
            write_atomically(path, data, LocalDisk(), durable=False)


def read_owed(run: Run) -> frozenset[str]:
    """The forms that are still to be written."""
    try:
        return frozenset(read_file(_path_of_note(run), _LONGEST, links=False).decode().split())
    except (OSError, ValueError):
        return frozenset()  # there is no note, or none of ours


def _path_of_note(run: Run) -> str:
    return os.path.join(run.path, "owed")
