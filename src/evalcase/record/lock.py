"""One writer for each journal. The operating system lifts the lock when its holder dies, however
it dies; who holds it is noted in a file beside, for the message only."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

from evalcase.errors import RecordError
from evalcase.system.files import NO_LINK, NO_WAIT, open_file

NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)
"""Some network file systems have none; as on Windows, the run goes on without."""


def lock_journal(fd: int, path: str) -> None:
    """Lock the open journal at `path`, at once or not at all."""
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RecordError(_explain_taken(path)) from error
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
    # Without the note the lock still holds. In a stranger's folder, it may be a link to another
    # file, or a pipe that would be waited for.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK | NO_WAIT
    with (
        contextlib.suppress(OSError),
        open(os.open(_path_of_note(path), flags, 0o666), "wb") as file,
    ):
        file.write(str(os.getpid()).encode())


def unlock_journal(fd: int, path: str) -> None:
    """Close the journal, and with it the lock."""
    with contextlib.suppress(OSError):
        os.unlink(_path_of_note(path))
    with contextlib.suppress(OSError):  # everything was synced before
        os.close(fd)


def is_named(fd: int, path: str) -> bool:
    """Whether what is open is what has this name: it may have been removed before it was locked."""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except FileNotFoundError:
        return False


def is_written(path: str) -> bool:
    """Whether a process says that it writes a journal, and is there. It is for people: the lock
    itself is not touched, as a writer might just be about to take it."""
    writer = _read_writer(path)
    if writer is None or writer <= 0 or sys.platform == "win32":
        return False
    try:
        os.kill(writer, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _explain_taken(path: str) -> str:
    run = os.path.basename(os.path.dirname(os.path.abspath(path)))
    writer = _read_writer(path)
    by = "another process" if writer is None else f"process {writer}"
    return f"run {run} is being written by {by}"


def _read_writer(path: str) -> int | None:
    try:
        with open_file(_path_of_note(path), links=False) as file:
            return int(file.read(20))
    except (OSError, ValueError):
        return None


def _path_of_note(path: str) -> str:
    return os.path.join(os.path.dirname(path), "writer.pid")
