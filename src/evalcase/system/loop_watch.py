"""Says which code of the user's keeps the event loop from everybody else: an async function that
blocks makes all trials wait, and nothing else would show why. One that does so for longer than its
time limit is ended: no timer of the loop could.

A thread asks the loop for a sign of life now and then. If none comes, it looks at what the loop's
thread is doing, and may send it a signal: that ends what waits, as Ctrl-C does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, NamedTuple, Self

from evalcase.system.clock import monotonic
from evalcase.system.package import PACKAGE

_PERIOD_S = 0.25
_LONG_S = 1.0
"""Who blocks the loop for so long is named."""
_SIGNAL: int = signal.SIGURG if sys.platform != "win32" else 0
"""Nobody minds it: without a handler it is ignored. Where it isn't known, none is sent."""
_MOST_TRIES = 8
"""How often something is told to end, before it counts as stuck."""
_OWN = PACKAGE + os.sep
_PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = ("site-packages", "dist-packages")


class Culprit(NamedTuple):
    """What the loop waits for: a function that evalcase has called, and for which call."""

    function: str
    place: str
    call: str


class OverdueError(BaseException):
    """What was running kept the event loop from all others for longer than its time limit."""


class LoopWatch:
    """Watches the loop that it is made in, while it is entered."""

    def __init__(
        self,
        tell: Callable[[str], None],
        is_overdue: Callable[[asyncio.Task[Any] | None], bool] = lambda _: False,
        on_stuck: Callable[[str], None] = lambda _: None,
        on_sign: Callable[[], None] = lambda: None,
        period_s: float = _PERIOD_S,
        long_s: float = _LONG_S,
    ) -> None:
        """`is_overdue` says of a task whether it has to be ended; `on_stuck` is told, in another
        thread, of one that can't be. The loop calls `on_sign` with each sign of life,
        whatever it takes for the time."""
        self._tell = tell
        self._is_overdue = is_overdue
        self._on_stuck = on_stuck
        self._on_sign = on_sign
        self._period_s = period_s
        # It may have been blocked for a period when it is asked for a sign, and nobody knows.
        self.silence_s = max(long_s - period_s, period_s)
        """How long the loop may be silent once it is asked for a sign of life."""
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        self._over = threading.Event()
        self._told: set[str] = set()
        self._untold: deque[str] = deque()
        """What the loop has still to tell: what it was blocked by may be all that it had to do."""
        self._can_signal = False
        self._wants_end = False

    def __enter__(self) -> Self:
        self._can_signal = _is_free(_SIGNAL)
        if self._can_signal:
            signal.signal(_SIGNAL, self._raise)
        threading.Thread(target=self._watch, name="evalcase-watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._tell_all()
        if self._can_signal:
            signal.signal(_SIGNAL, signal.SIG_DFL)

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
            if not self._post(partial(self._give_sign, sign)) or self._hears(sign):
                continue
            culprit = self.find_culprit()
            tries = 0
            while not sign.wait(self._period_s):
                if self._over.is_set() or self._loop.is_closed():
                    return
                tries += self._end_if_overdue(tries)
            if culprit is not None and culprit.function not in self._told:
                self._told.add(culprit.function)
                self._untold.append(_describe_culprit(culprit, monotonic() - asked_at))
                self._post(self._tell_all)

    def _hears(self, sign: threading.Event) -> bool:
        """Whether a sign comes in time. Of a loop that is closed meanwhile nobody wants one."""
        until = monotonic() + self.silence_s
        while not sign.wait(min(self._period_s, max(0.0, until - monotonic()))):
            if self._loop.is_closed():
                return True
            if monotonic() >= until:
                return False
        return True

    def _give_sign(self, sign: threading.Event) -> None:
        sign.set()
        if not self._over.is_set():
            self._on_sign()

    def _tell_all(self) -> None:
        while self._untold:
            self._tell(self._untold.popleft())

    def _end_if_overdue(self, tries: int) -> bool:
        """Whether it was tried to end what is running."""
        is_overdue = self._is_overdue(asyncio.current_task(self._loop))
        culprit = self.find_culprit() if is_overdue else None
        if culprit is None:
            return False
        if tries == _MOST_TRIES:
            self._on_stuck(f"{culprit.call}: `{culprit.function}` ({culprit.place})")
        elif self._can_signal and tries < _MOST_TRIES:
            self._wants_end = True
            signal.pthread_kill(self._thread_id, _SIGNAL)
        return True

    def _raise(self, _: int, frame: FrameType | None) -> None:
        """End what is running, unless it has come to its end by itself meanwhile."""
        wanted, self._wants_end = self._wants_end, False
        if wanted and _called_by_evalcase(frame) is not None:
            raise OverdueError("it kept the event loop from all others beyond its time limit")

    def _post(self, action: Callable[[], None]) -> bool:
        """Have the loop do something; False if it is closed."""
        try:
            self._loop.call_soon_threadsafe(action)
        except RuntimeError:
            self._over.set()
            return False
        return True


def _is_of_python(file: str) -> bool:
    """Whether a file is of the standard library, which evalcase calls as well."""
    rest = file.removeprefix(_PYTHON)
    return rest != file and not rest.startswith(_INSTALLED)


def _is_free(number: int) -> bool:
    """Whether a signal can be used for this: only the main thread is told of any."""
    is_main = threading.current_thread() is threading.main_thread()
    is_known = sys.platform != "win32"
    return is_known and is_main and signal.getsignal(number) is signal.SIG_DFL


def _describe_culprit(culprit: Culprit, took_s: float) -> str:
    return (
        f"{culprit.call}: `{culprit.function}` ({culprit.place}) blocked the event loop for "
        f"at least {took_s:.1f} s, so that concurrency suffers; await what takes long, or write a "
        "plain function, which runs in a thread"
    )


def _called_by_evalcase(frame: FrameType | None) -> FrameType | None:
    """The outermost frame of what evalcase has called; None if it is busy itself, or absent."""
    called: FrameType | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_OWN):
            return called
        if not _is_of_python(file):
            called = frame
        frame = frame.f_back
    return None
