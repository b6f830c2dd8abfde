"""The journal of a complete run, compressed: a large one is a tenth of its size then.

At any moment all of it is there. The journal goes once what takes its place is whole and on disk,
and while both are there the journal is what counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from evalcase.errors import RecordError
from evalcase.record.folder import Run
from evalcase.record.lines import JournalLines
from evalcase.record.lock import is_named, lock_journal, unlock_journal
from evalcase.system.disk import Disk, LocalDisk, sync_folder, write_all
from evalcase.system.files import BINARY, NO_LINK, open_file
from evalcase.system.packed import ENDING, pack_members
from evalcase.text.journal_row import JOURNAL

WORTH_IT = 16 * 1024 * 1024
"""Bytes below which a journal stays as it is: anybody can read it, and nothing is gained."""
_DRAFT = ".draft"


def pack_journal(run: Run, warn: Callable[[str], None], disk: Disk | None = None) -> bool:
    """Compress the journal of a run, if it is large and nobody writes it. Say whether it is.

    If that can't be done, it is told, and the journal is what it was.
    """
    path = os.path.join(run.path, JOURNAL)
    try:
        if os.path.getsize(path) < WORTH_IT:
            return False
        with open_file(path, links=False) as file:
            fd = os.dup(file.fileno())
        try:
            lock_journal(fd, path)
        except RecordError:  # somebody goes on with it
            os.close(fd)
            return False
        try:
            return is_named(fd, path) and _pack_journal(path, disk or LocalDisk())
        finally:
            unlock_journal(fd, path)
    except FileNotFoundError:  # there is none, or it is compressed already
        return False
    except (OSError, RecordError) as error:
        why = error.strerror or error if isinstance(error, OSError) else error
        warn(f"{path} could not be compressed, and stays as it is: {why}")
        return False


def _pack_journal(path: str, disk: Disk) -> bool:
    lines, draft = JournalLines(path), path + ENDING + _DRAFT
    # What an earlier attempt left there is gone with this.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK | BINARY
    fd = os.open(draft, flags, 0o666)
    try:
        try:
            for member in pack_members(iter(lines)):
                write_all(disk, fd, member)
            disk.fsync(fd)
        finally:
            os.close(fd)
        if lines.torn is not None:
            raise RecordError("its last line is half written")
        disk.rename(draft, path + ENDING)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
    sync_folder(disk, os.path.dirname(path))
    os.unlink(path)
    return True
