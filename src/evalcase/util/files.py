"""Files that people name, opened with care; and files that evalcase writes, so that they last.

Only this module opens what a person, a suite, a configuration or a record names: a pipe is never
waited for, a device is never read, and nothing is read beyond its bound.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import file_digest
from io import BufferedReader, BufferedWriter

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)
"""Windows would otherwise change line feeds."""
UNREADABLE = "unreadable"
"""In place of a hash, for what can't be opened or is no regular file."""


class IrregularError(OSError):
    """It is a folder, a pipe or a device."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file")


class OutsideError(OSError):
    """A file does not lie where it has to, once links are followed."""

    def __init__(self) -> None:
        super().__init__(errno.EPERM, "it lies outside the project")


class OversizeError(OSError):
    def __init__(self, most_bytes: int) -> None:
        super().__init__(errno.EFBIG, f"it is larger than {most_bytes:,} bytes")


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it. Both are real: no link is followed here."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def open_file(path: str, inside: str | None = None, *, links: bool = True) -> BufferedReader:
    """Open a regular file. With `inside`, it has to lie in that folder, links followed. Without
    `links`, the file itself may be none; folders above it may."""
    try:
        folder = None if inside is None else os.path.realpath(inside)
        if folder is not None and not is_inside(os.path.realpath(path), folder):
            raise OutsideError  # to open it would be enough, for some devices
        # Without waiting: to open a pipe that has no writer would take for ever.
        flags = os.O_RDONLY | NO_WAIT | BINARY
        descriptor = os.open(path, flags if links else flags | NO_LINK)
    except ValueError as error:  # a NUL, or half of a character: no file has such a name
        raise OSError(errno.EINVAL, str(error)) from None
    except OSError as error:
        if error.errno == errno.ELOOP and not links:
            raise OSError(errno.ELOOP, "it is a link") from None
        raise
    try:
        # The file that was opened is looked at, not the one that had this name a moment ago.
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode):
            raise IrregularError
        if folder is not None:
            real = os.path.realpath(path)
            if not is_inside(real, folder) or not os.path.samestat(os.stat(real), opened):
                raise OutsideError
    except BaseException:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")


def open_to_write(path: str) -> BufferedWriter:
    """Open a file to be written, over what is there. A pipe without a reader is not waited for."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_WAIT | BINARY, 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "it is a pipe that no program reads") from None
        raise
    if os.name != "nt":
        os.set_blocking(descriptor, True)  # a reader may be slow
    return open(descriptor, "wb")


def open_to_append(path: str) -> int:
    """The descriptor of a regular file that is read, and written at its end; it is made if there
    is none."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_WAIT | BINARY, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IrregularError
    return descriptor


def read_file(
    path: str, most_bytes: int, inside: str | None = None, *, links: bool = True
) -> bytes:
    """All of a file. OversizeError if that is more than the bound."""
    with open_file(path, inside, links=links) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            raise OversizeError(most_bytes)
        data = file.read(size + 1)
        if len(data) > size:  # files in /proc, for one, say nothing of their size
            data += file.read(most_bytes + 1 - len(data))
    if len(data) > most_bytes:
        raise OversizeError(most_bytes)
    return data


def read_start(path: str, most_bytes: int, *, links: bool = True) -> tuple[bytes, bool]:
    """The first bytes of a file, up to a bound, and whether there is more."""
    with open_file(path, links=links) as file:
        data = file.read(most_bytes + 1)
    return data[:most_bytes], len(data) > most_bytes


def digest_file(path: str) -> str:
    """The SHA-256 of a file, however large; UNREADABLE if it can't be read."""
    try:
        with open_file(path) as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return UNREADABLE


def digest_files(files: Mapping[str, str]) -> dict[str, str]:
    """The hash of each file, by the names under which their paths are given. A file is read once,
    and again when it was changed."""
    digests = {}
    for name, path in files.items():
        try:
            about = os.stat(path)
            digests[name] = _digest_version(path, about.st_mtime_ns, about.st_size)
        except OSError:
            digests[name] = UNREADABLE
    return digests


@lru_cache(maxsize=10_000)
def _digest_version(path: str, _mtime_ns: int, _size: int) -> str:
    return digest_file(path)


class Disk:
    """The operations that durability rests on, so that tests can make them fail. Each method does
    what its namesake in `os` does, errors included."""

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
    """Write every byte. A disk that is nearly full writes fewer than it was given."""
    rest = memoryview(data)
    while rest:
        written = disk.write(fd, rest)
        if written <= 0:
            raise OSError(errno.EIO, "nothing could be written")
        rest = rest[written:]


def find_tampering(fd: int, path: str, size: int) -> str | None:
    """What another program did to an open file that only we write to: it should still be at `path`
    and have that many bytes. None if all is well."""
    about = os.fstat(fd)
    try:
        named = os.stat(path, follow_symlinks=False)
    except OSError:
        return "it was removed or moved while it was written"
    if not os.path.samestat(about, named):
        return "another file was put in its place while it was written"
    return None if about.st_size == size else "another program changed it while it was written"


def write_atomically(
    path: str, data: bytes | Iterable[bytes], disk: Disk | None = None, *,
    before: bytes | None = None, durable: bool = True, replace: bool = True,
) -> None:  # fmt: skip
    """Put a file in place whole: at any moment there is what was there before, or all of it.

    A link is followed, and a file that is replaced keeps its mode and owner. With `before`, that
    must be what it still holds. A file that can be made again need not be `durable`: a power cut
    may take it. Unless it may `replace` a file, FileExistsError says that there is one. OSError
    says why it can't be written.
    """
    disk = disk or Disk()
    path = os.path.realpath(path)
    if not replace and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    replaced = _find_replaceable(path)
    draft = os.path.join(os.path.dirname(path), f".evalcase-{os.urandom(6).hex()}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
    try:
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                write_all(disk, fd, piece)
            if replaced is not None:
                _copy_owner(draft, replaced)
            if durable:
                disk.fsync(fd)
        finally:
            os.close(fd)
        if before is not None:
            with open_file(path) as file:
                if file.read(len(before) + 1) != before:
                    raise OSError(errno.EBUSY, "it was changed by someone else in the meantime")
        disk.rename(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
    if durable:
        sync_folder(disk, os.path.dirname(path))


def _find_replaceable(path: str) -> os.stat_result | None:
    if not os.path.exists(path):
        return None
    about = os.stat(path)
    if about.st_nlink > 1:
        raise OSError(errno.EMLINK, "it has several names (hard links), which would go apart")
    if not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, "it is read-only")
    return about


def _copy_owner(path: str, model: os.stat_result) -> None:
    os.chmod(path, stat.S_IMODE(model.st_mode))
    about = os.stat(path)
    if (about.st_uid, about.st_gid) != (model.st_uid, model.st_gid):
        os.chown(path, model.st_uid, model.st_gid)


def sync_folder(disk: Disk, path: str) -> None:
    """Make the names in a folder durable: a file that was synced may still lose its name."""
    if os.name == "nt":  # folders can't be opened there
        return
    fd = os.open(path or ".", os.O_RDONLY)
    try:
        disk.fsync(fd)
    except OSError as error:
        # Some shared and virtual file systems can't sync a folder; its files were synced.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
    finally:
        os.close(fd)
