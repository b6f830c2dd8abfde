"""The clocks of evalcase's own, which no code of the user's can set.

Tests with a frozen date, and whoever replaces `time.monotonic`, swap the functions of `time`
wherever a module has them. These are functions of another copy of that module: nobody else has
them, so that limits and durations stay true.
"""

from __future__ import annotations

import _imp
import time
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


def _copy_time() -> ModuleType:
    copied = _imp.create_builtin(time.__spec__)
    _imp.exec_builtin(copied)
    return copied


_own = _copy_time()
monotonic: Callable[[], float] = _own.monotonic
perf_counter: Callable[[], float] = _own.perf_counter


def keep_time(loop: AbstractEventLoop) -> None:
    """Have an event loop go by such a clock."""
    with suppress(AttributeError):  # of another kind, with a clock of its own
        loop.time = monotonic  # type: ignore[method-assign]
