"""How many files and sockets a process may have open at once."""

from __future__ import annotations

import sys
from contextlib import suppress

_MOST = 10_240
"""macOS refuses to allow more, rather than to allow as many as it can."""
_SPARE = 64
"""How many sockets leave to whatever else has to be opened: modules, programs, the record."""


def allow_descriptors(count: int) -> None:
    """See to it that so many can be open, as far as the system lets anybody."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(count, _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST))
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def leaves_room(descriptor: int) -> bool:
    """Whether others can be opened beside one that was opened last."""
    if sys.platform == "win32":
        return True
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft == resource.RLIM_INFINITY or descriptor < soft - min(_SPARE, soft // 4)
