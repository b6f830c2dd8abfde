"""An event loop that never waits: its clock leaps to whatever is due next, however busy the
machine is. For code that waits for timers only."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar
from unittest import mock

T = TypeVar("T")


class _Leaping(selectors.DefaultSelector):
    """Lets the time pass in which nothing would happen."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "it would wait for ever"
        self.now += max(timeout, 0.0)
        return super().select(0)


def run_leaping(main: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns; the clock of calls is that of the loop, too."""
    selector = _Leaping()

    def now() -> float:
        return selector.now

    def make() -> asyncio.AbstractEventLoop:
        loop = asyncio.SelectorEventLoop(selector)
        loop.time = now  # type: ignore[method-assign]
        return loop

    with (
        mock.patch("evalcase.util.user_calls.monotonic", now),
        mock.patch("evalcase.runner.grading.monotonic", now),
        asyncio.Runner(loop_factory=make) as runner,
    ):
        return runner.run(main)
