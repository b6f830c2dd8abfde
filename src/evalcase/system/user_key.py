"""A key that only this user of this machine has: with it they know later what they made themselves.

It is made once, and lies where programs keep the state of a user. What others could have read or
put there is no key.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BufferedReader

from evalcase.system.disk import LocalDisk, sync_folder, write_all
from evalcase.system.files import BINARY, open_file

_SIZE = 32
_NAME = "key"
"""In the folder of the state."""


def state_folder(environment: Mapping[str, str]) -> str | None:
    """Where the state of a user is kept; None if nothing says where their home is."""
    base = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(base):  # where it isn't, the rules for such folders say to ignore it
        return os.path.join(base, "evalcase")
    home = environment.get("HOME") or environment.get("USERPROFILE", "")
    return os.path.join(home, ".local", "state", "evalcase") if os.path.isabs(home) else None


def read_key(folder: str) -> bytes:
    """The key of a user. OSError if there is none, or none that only they know."""
    with open_file(os.path.join(folder, _NAME), links=False) as file:
        _check_privacy(file)
        key = file.read(_SIZE + 1)
    if len(key) != _SIZE:
        raise OSError(errno.EINVAL, "it is damaged, and may be removed")
    return key


def make_key(folder: str, entropy: Callable[[int], bytes]) -> bytes:
    """The key of a user, a new one if they have none. OSError if it can't be kept."""
    with suppress(FileNotFoundError):
        return read_key(folder)
    os.makedirs(folder, 0o700, exist_ok=True)
    draft = os.path.join(folder, f".{entropy(6).hex()}")
    try:
        _write_draft(draft, entropy(_SIZE))
        # It has its name once it is whole; of two that are made at once, the first is everybody's.
        with suppress(FileExistsError):
            os.link(draft, os.path.join(folder, _NAME))
    finally:
        with suppress(OSError):
            os.unlink(draft)
    sync_folder(LocalDisk(), folder)
    return read_key(folder)


def _write_draft(path: str, key: bytes) -> None:
    disk = LocalDisk()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o600)
    try:
        write_all(disk, fd, key)
        disk.fsync(fd)
    finally:
        os.close(fd)


def _check_privacy(file: BufferedReader) -> None:
    if sys.platform == "win32":
        return  # a user's own folders are closed to others there
    about = os.fstat(file.fileno())
    if about.st_uid != os.geteuid():
        raise OSError(errno.EPERM, "it belongs to somebody else")
    if stat.S_IMODE(about.st_mode) & 0o077:
        raise OSError(errno.EPERM, "others can read or write it, so it may be removed")
