"""A path that somebody named in, a regular file out, or an OSError that says why there is none.

This is the only place that opens what a person, a suite, a configuration or a record names. A
pipe is never waited for, a device is never read, and nothing is read beyond its bound.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, BufferedWriter
from typing import IO

from evalcase.system.project_root import is_inside

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)
"""Windows would otherwise turn line feeds into something else."""

# Without blocking: opening a pipe that nobody writes to would wait without end.
_FLAGS = os.O_RDONLY | NO_WAIT | BINARY


class IrregularError(OSError):
    """A folder, a pipe, a device: whatever has this name, it is no regular file."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file")


class OutsideError(OSError):
    """A file does not lie where it has to, once links are followed."""

    def __init__(self) -> None:
        super().__init__(errno.EPERM, "it lies outside the project")


class OversizeError(OSError):
    """A file is larger than whoever reads it can take."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(errno.EFBIG, f"it is larger than {most_bytes:,} bytes")


class LinkError(OSError):
    """A file is a link, where none is followed."""

    def __init__(self) -> None:
        super().__init__(errno.ELOOP, "it is a link")


def open_file(path: str, inside: str | None = None, *, links: bool = True) -> BufferedReader:
    """Open a regular file. With `inside`, it has to lie in that folder, links followed. Without
    `links`, the file itself may be none; folders above it may."""
    try:
        folder = None if inside is None else os.path.realpath(inside)
        if folder is not None and not is_inside(os.path.realpath(path), folder):
            raise OutsideError  # to open it would be enough, for some devices
        descriptor = os.open(path, _FLAGS if links else _FLAGS | NO_LINK)
    except ValueError as error:  # a NUL, or half of a character: no file has such a name
        raise OSError(errno.EINVAL, str(error)) from None
    except OSError as error:
        if error.errno == errno.ELOOP and not links:
            raise LinkError from None
        raise
    try:
        # What was opened is looked at, and not what had this name a moment ago.
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode):
            raise IrregularError
        if folder is not None and not _lies_in(path, opened, folder):
            raise OutsideError
    except BaseException:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")


def open_anew(path: str) -> BufferedWriter:
    """Open a file to be written, over what is there. A pipe without a reader is not waited for."""
    try:
        # Without blocking, as above; and only to open it, for a reader may be slow.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_WAIT | BINARY, 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "it is a pipe that nobody reads") from None
        raise
    if os.name != "nt":
        os.set_blocking(descriptor, True)
    return open(descriptor, "wb")


def open_to_append(path: str) -> int:
    """The descriptor of a regular file that is read, and written at its end; a new one if there is
    none."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_WAIT | BINARY, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise IrregularError
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_file(
    path: str, most_bytes: int, inside: str | None = None, *, links: bool = True
) -> bytes:
    """All of a file. OversizeError if that is more than the bound."""
    with open_file(path, inside, links=links) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            raise OversizeError(most_bytes)
        # No more room is taken than there is to read, unless the file says nothing of its size.
        data = read_bytes(file, size + 1)
        if len(data) > size:
            data += read_bytes(file, most_bytes + 1 - len(data))
    if len(data) > most_bytes:
        raise OversizeError(most_bytes)
    return data


def read_start(path: str, most_bytes: int) -> tuple[bytes, bool]:
    """What a file begins with, up to a bound, and whether there is more."""
    with open_file(path) as file:
        data = read_bytes(file, most_bytes + 1)
    return data[:most_bytes], len(data) > most_bytes


def read_bytes(file: IO[bytes], size: int) -> bytes:
    """Read from a file; one that has nothing to give now, and never says when, is an error."""
    data = file.read(size)
    if data is None:
        raise OSError(errno.EAGAIN, "it gives no data")
    return data


def _lies_in(path: str, opened: os.stat_result, folder: str) -> bool:
    real = os.path.realpath(path)
    return is_inside(real, folder) and os.path.samestat(os.stat(real), opened)
