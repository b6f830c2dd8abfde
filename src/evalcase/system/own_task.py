"""Tasks of evalcase's own, which code of the user's shares the event loop with."""

from __future__ import annotations

import asyncio
from asyncio import _unregister_task
from collections.abc import Coroutine
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")


class OwnTask(asyncio.Task[T]):
    """A task that only evalcase ends: who cancels every task there is doesn't mean the run."""

    def __init__(
        self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop,
        context: Context | None = None,
    ) -> None:  # fmt: skip
        super().__init__(coroutine, loop=loop, context=context)
        _unregister_task(self)  # `asyncio.all_tasks` is for code that has tasks of its own

    def cancel(self, msg: Any = None) -> bool:  # noqa: ANN401 - as asyncio has it
        del msg
        return False

    def give_up(self) -> None:
        """Cancel it after all."""
        super().cancel()
