"""Says which code of the user's keeps the event loop from everybody else: an async function that
blocks makes all trials wait, and nothing else would show why.

A thread asks the loop for a sign of life now and then. If none comes, it looks at what the loop's
thread is doing.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from time import monotonic
from types import FrameType
from typing import Self

from evalcase.model.quick_tuple import NamedTuple

_PERIOD_S = 0.25
_LONG_S = 1.0
"""How long the loop may be silent."""
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_ASYNCIO = os.path.dirname(os.path.abspath(asyncio.__file__)) + os.sep


class Culprit(NamedTuple):
    """What the loop waits for: a function that evalcase has called, and for which call."""

    function: str
    place: str
    call: str


class LoopWatch:
    """Watches the loop that it is made in, while it is entered."""

    def __init__(
        self,
        tell: Callable[[str], None],
        period_s: float = _PERIOD_S,
        long_s: float = _LONG_S,
    ) -> None:
        self._tell = tell
        self._period_s = period_s
        self._long_s = long_s
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        self._over = threading.Event()
        self._told: set[str] = set()

    def __enter__(self) -> Self:
        threading.Thread(target=self._watch, name="evalcase-watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def find_culprit(self) -> Culprit | None:
        """What the thread of the loop is at, if evalcase has called it."""
        frame = sys._current_frames().get(self._thread_id)  # noqa: SLF001 - there is no other way
        called = _called_by_evalcase(frame)
        if called is None:
            return None
        task = asyncio.current_task(self._loop)
        place = f"{called.f_code.co_filename}:{called.f_lineno}"
        return Culprit(called.f_code.co_qualname, place, "" if task is None else task.get_name())

    def _watch(self) -> None:
        while not self._over.wait(self._period_s):
            asked_at, sign = monotonic(), threading.Event()
            if not self._post(sign.set) or sign.wait(self._long_s):
                continue
            culprit = self.find_culprit()
            while not sign.wait(self._period_s):
                if self._over.is_set():
                    return
            if culprit is not None and culprit.function not in self._told:
                self._told.add(culprit.function)
                self._post(partial(self._tell, _describe(culprit, monotonic() - asked_at)))

    def _post(self, action: Callable[[], None]) -> bool:
        """Have the loop do something; False if it is closed."""
        try:
            self._loop.call_soon_threadsafe(action)
        except RuntimeError:
            self._over.set()
            return False
        return True


def _describe(culprit: Culprit, took_s: float) -> str:
    return (
        f"{culprit.call}: `{culprit.function}` ({culprit.place}) blocked the event loop for "
        f"{took_s:.1f} s, so that concurrency suffers; await what takes long, or write a plain "
        "function, which runs in a thread"
    )


def _called_by_evalcase(frame: FrameType | None) -> FrameType | None:
    """The outermost frame of what evalcase has called; None if it is busy itself, or absent."""
    called: FrameType | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_OWN):
            return called
        if not file.startswith(_ASYNCIO):
            called = frame
        frame = frame.f_back
    return None
