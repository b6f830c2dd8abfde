"""The few operations that durability rests on, behind one seam so that tests can make them fail."""

from __future__ import annotations

import errno
import os
import stat
import sys
from io import BufferedReader
from typing import Protocol

from evalcase.errors import RecordError

BINARY = getattr(os, "O_BINARY", 0)
"""Windows would otherwise turn line feeds into something else."""
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)


class Disk(Protocol):
    """Each method does what its namesake in `os` does, errors included."""

    def write(self, fd: int, data: bytes | memoryview) -> int: ...
    def fsync(self, fd: int) -> None: ...
    def truncate(self, fd: int, size: int) -> None: ...
    def rename(self, source: str, destination: str) -> None: ...


class LocalDisk:
    """The disk of this machine."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        if sys.platform == "darwin":
            import fcntl

            # There fsync hands the data to the drive only; this call waits until it is stored.
            # Not every file system knows it.
            try:
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
                return
            except OSError as error:
                if error.errno not in (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY):
                    raise
        os.fsync(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def rename(self, source: str, destination: str) -> None:
        os.replace(source, destination)


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """Write every byte. A disk that is nearly full writes fewer than it was given, and says so
    only by the number it returns."""
    rest = memoryview(data)
    while rest:
        written = disk.write(fd, rest)
        if written <= 0:
            raise OSError(errno.EIO, "nothing could be written")
        rest = rest[written:]


def write_atomically(disk: Disk, path: str, data: bytes) -> None:
    """Put a file in place whole: at any moment there is either nothing or all of it."""
    unfinished = f"{path}.tmp"
    try:
        fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, 0o666)
        try:
            write_all(disk, fd, data)
            disk.fsync(fd)
        finally:
            os.close(fd)
        disk.rename(unfinished, path)
        sync_folder(disk, os.path.dirname(path))
    except OSError as error:
        raise RecordError(f"{path} can't be written: {error.strerror or error}") from error


def open_file(path: str) -> BufferedReader:
    """Open a file for reading that may come from anyone: a pipe in its place would block."""
    fd = os.open(path, os.O_RDONLY | NO_WAIT | BINARY)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a file")
    return open(fd, "rb")


def sync_folder(disk: Disk, path: str) -> None:
    """Make the names in a folder durable: a file that was synced may still lose its name."""
    if os.name == "nt":  # folders can't be opened there
        return
    fd = os.open(path or ".", os.O_RDONLY)
    try:
        disk.fsync(fd)
    finally:
        os.close(fd)
