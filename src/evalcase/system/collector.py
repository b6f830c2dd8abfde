"""The cyclic garbage collector, kept from walking through many values that live on: to look for
cycles among the cases of a file takes a fifth of the time that it takes to load them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Have it look at nothing meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def made_for_good() -> Iterator[None]:
    """The same where all that is made stays until the process ends: it need never look at it."""
    was_enabled = gc.isenabled()
    with collector_paused():
        try:
            yield
        finally:
            if was_enabled:
                gc.freeze()
