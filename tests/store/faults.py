"""Disks that break in the ways that disks break."""

import errno
import os
from dataclasses import dataclass, field

from evalcase.util.files import Disk


@dataclass
class WatchedDisk(Disk):
    """Remembers how much of the journal was synced."""

    synced: int = 0
    calls: list[str] = field(default_factory=list)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self.calls.append("write")
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        self.calls.append("fsync")
        self.synced = max(self.synced, os.fstat(fd).st_size)


@dataclass
class SmallDisk(Disk):
    """Has room for so many bytes. The write that fills it is short and raises nothing."""

    room: int

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = super().write(fd, data[: self.room])
        self.room -= written
        return written


@dataclass
class ForgetfulDisk(Disk):
    """Its n-th fsync fails; like Linux, it claims at the next one that all is well."""

    fails_at: int
    syncs: int = 0

    def fsync(self, fd: int) -> None:
        self.syncs += 1
        if self.syncs == self.fails_at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().fsync(fd)


@dataclass
class StutteringDisk(Disk):
    """Writes seven bytes at a time, without ever failing."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, data[:7])
