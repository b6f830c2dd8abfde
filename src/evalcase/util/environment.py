"""The process that a run is in: its clocks, its variables, its limits, and its user's own key."""

from __future__ import annotations

import errno
import gc
import os
import stat
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from tempfile import mkstemp

from evalcase.types.value import Value
from evalcase.util.files import Disk, open_file, sync_folder

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of this package, as it was imported."""
_KEY_BYTES = 32
_MOST_DESCRIPTORS = 10_240
"""macOS refuses a request for more, rather than to grant what it can."""

# Libraries such as freezegun replace `time.monotonic` and `time.time` in every module that has
# them. They leave `time.clock_gettime` alone, so limits, durations and stamps go by that.
if sys.platform == "win32":
    from time import monotonic
    from time import time as wall_time
else:
    from time import CLOCK_MONOTONIC, CLOCK_REALTIME, clock_gettime

    monotonic = partial(clock_gettime, CLOCK_MONOTONIC)
    """Seconds since some moment; no change of the date moves it."""
    wall_time = partial(clock_gettime, CLOCK_REALTIME)
    """Seconds since 1970."""


class Environment(Value, frozen=True):
    """What a run takes from its process. It is known before a file of environment variables, or
    user code, can change it."""

    cwd: str
    variables: MutableMapping[str, str]
    state: str | None
    """The folder for the state of this user; None if their home is unknown."""


def this_environment() -> Environment:
    return Environment(os.getcwd(), os.environ, state_folder(os.environ))


def stamp() -> str:
    """The time as the record has it: UTC, ISO 8601, to the millisecond."""
    return datetime.fromtimestamp(wall_time(), UTC).isoformat(timespec="milliseconds")


def state_folder(environment: Mapping[str, str]) -> str | None:
    """Where the state of a user is kept; None if nothing says where their home is."""
    base = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(base):  # where it isn't, the rules for such folders say to ignore it
        return os.path.join(base, "evalcase")
    home = environment.get("HOME") or environment.get("USERPROFILE", "")
    return os.path.join(home, ".local", "state", "evalcase") if os.path.isabs(home) else None


def read_key(folder: str) -> bytes:
    """The key in a user's state folder, which only they can read: it proves what they made
    themselves. OSError if there is none, or none that is private."""
    with open_file(os.path.join(folder, "key"), links=False) as file:
        about = os.fstat(file.fileno())
        if sys.platform != "win32" and about.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "it belongs to another user")
        if sys.platform != "win32" and stat.S_IMODE(about.st_mode) & 0o077:
            raise OSError(errno.EPERM, "others can read or write it, so it may be removed")
        key = file.read(_KEY_BYTES + 1)
    if len(key) != _KEY_BYTES:
        raise OSError(errno.EINVAL, "it is damaged, and may be removed")
    return key


def make_key(folder: str) -> bytes:
    """The key of a user, a new one if they have none. OSError if it can't be kept."""
    with suppress(FileNotFoundError):
        return read_key(folder)
    os.makedirs(folder, 0o700, exist_ok=True)
    descriptor, draft = mkstemp(dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(os.urandom(_KEY_BYTES))
            file.flush()
            Disk().fsync(descriptor)
        # It has its name once it is whole. If two are made at once, the first counts.
        with suppress(FileExistsError):
            os.link(draft, os.path.join(folder, "key"))
    finally:
        os.unlink(draft)
    sync_folder(Disk(), folder)
    return read_key(folder)


def allow_descriptors(count: int) -> None:
    """Raise the number of files and sockets that may be open, as far as the system allows it."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < count:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(count, most)), hard))


@contextmanager
def collector_paused(*, for_good: bool = False) -> Iterator[None]:
    """Pause the garbage collector: to look for cycles among the cases of a file takes a fifth of
    the time that it takes to load them. With `for_good`, all that is made in here lives as long as
    the process, and is never looked at."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if for_good:
                gc.freeze()
            elif gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()  # what was made is old now: else it would all be looked at next
            gc.enable()
