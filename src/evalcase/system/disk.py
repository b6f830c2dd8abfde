"""The few operations that durability rests on, behind one seam so that tests can make them fail."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from evalcase.system.files import BINARY, open_file, read_bytes


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


def find_meddling(fd: int, path: str, size: int) -> str | None:
    """What somebody else did to an open file that only we write to, as far as its name and its
    size tell: it should be at `path` still, and have that many bytes. None if all is well."""
    about = os.fstat(fd)
    try:
        named = os.stat(path, follow_symlinks=False)
    except OSError:
        return "it was removed or moved while it was written"
    if not os.path.samestat(about, named):
        return "another file was put in its place while it was written"
    return None if about.st_size == size else "somebody else changed it while it was written"


def write_atomically(
    path: str, data: bytes | Iterable[bytes], disk: Disk | None = None, *,
    before: bytes | None = None, durable: bool = True, replace: bool = True,
) -> None:  # fmt: skip
    """Put a file in place whole: at any moment there is what was there before, or all of it.

    A link is followed, and a file that is replaced keeps its mode and owner. With `before`, that
    must be what it still holds. Where it can be made again, it need not be `durable`: then a power
    cut may take it. Unless it may `replace` a file, FileExistsError says that there is one, even
    if that came a moment ago. OSError says why it can't be written.
    """
    disk = disk or LocalDisk()
    path = os.path.realpath(path)
    if not replace and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    replaced = _check_replaceable(path)
    draft = os.path.join(os.path.dirname(path), f".evalcase-{os.urandom(6).hex()}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
    try:
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                write_all(disk, fd, piece)
            if replaced is not None:
                _make_alike(draft, replaced)
            if durable:
                disk.fsync(fd)
        finally:
            os.close(fd)
        if before is not None and not _still_holds(path, before):
            raise OSError(errno.EBUSY, "it was changed by someone else in the meantime")
        if replace:
            disk.rename(draft, path)
        else:
            _name_newly(disk, draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
    if durable:
        sync_folder(disk, os.path.dirname(path))


def _name_newly(disk: Disk, draft: str, path: str) -> None:
    """Give a draft its name, which no file may have."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # some file systems know no second names
        disk.rename(draft, path)
    else:
        os.unlink(draft)


def _check_replaceable(path: str) -> os.stat_result | None:
    """What is known of a file that is to be replaced; None if there is none."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return None
    if about.st_nlink > 1:
        raise OSError(errno.EMLINK, "it has several names (hard links), which would go apart")
    if not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, "it is read-only")
    return about


def _make_alike(path: str, model: os.stat_result) -> None:
    os.chmod(path, stat.S_IMODE(model.st_mode))
    about = os.stat(path)
    if (about.st_uid, about.st_gid) != (model.st_uid, model.st_gid):
        os.chown(path, model.st_uid, model.st_gid)


def _still_holds(path: str, data: bytes) -> bool:
    with open_file(path) as file:
        return read_bytes(file, len(data) + 1) == data


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
