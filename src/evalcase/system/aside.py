"""Plain work that may take seconds, in a thread, so that the event loop goes on meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import TypeVar, cast

from evalcase.system.threads import Threads

T = TypeVar("T")
IsGivenUp = Callable[[], bool]
"""Whether nobody waits for it any more; to be asked now and then."""


async def run_aside(work: Callable[[IsGivenUp], T]) -> T:
    """What the work returns, or raises. If this is cancelled, the work is told."""
    threads, given_up = Threads("evalcase-aside"), Event()
    try:
        return cast("T", await threads.call(work, given_up.is_set))
    except BaseException:
        given_up.set()
        raise
    finally:
        threads.close()
