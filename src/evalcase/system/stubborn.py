"""Tasks and coroutines that stay when they are told to end: asked a few times, then kept for ever.

To forget one is to ask it once more, when nobody expects it and no event loop runs: `while True`
around an `await` and an `except BaseException` would then never come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

_MOST_TRIES = 3


def end_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """End tasks that don't listen, so that nobody has to wait for them. To be called in their
    loop: what they call while they end may need it."""
    for task in list(tasks):
        task.add_done_callback(_look_away)
        end_coroutine(task.get_coro())
        task.cancel()


def _look_away(task: asyncio.Task[Any]) -> None:
    """Nobody wants to know how it ended."""
    if not task.cancelled():
        task.exception()


def end_coroutine(coroutine: Any) -> None:  # noqa: ANN401 - whatever a task can be made of
    """Have it end where it stands, with all that it awaits; in its loop, while that runs."""
    chain = list(_follow_awaited(coroutine))
    for _ in range(_MOST_TRIES):
        with suppress(BaseException):  # it may refuse to end by whatever it likes
            coroutine.close()
            break
    for each in chain:
        if _is_alive(each):
            _keep_for_ever(each)


def _follow_awaited(coroutine: Any) -> Iterator[Any]:  # noqa: ANN401 - coroutines and generators
    """A coroutine, what it awaits, what that awaits, and so on."""
    while coroutine is not None:
        yield coroutine
        for name in ("cr_await", "ag_await", "gi_yieldfrom"):
            if hasattr(coroutine, name):
                coroutine = getattr(coroutine, name)
                break
        else:
            return


def _is_alive(coroutine: Any) -> bool:  # noqa: ANN401
    return any(
        getattr(coroutine, name, None) is not None for name in ("cr_frame", "ag_frame", "gi_frame")
    )


def _keep_for_ever(thing: object) -> None:
    """See that it is not even forgotten when Python ends."""
    with suppress(ImportError, AttributeError):  # not CPython
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
