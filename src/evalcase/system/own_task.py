"""Tasks of evalcase's own, which code of the user's shares the event loop with."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

T = TypeVar("T")


class OwnTask(asyncio.Task[T]):
    """A task that only evalcase ends: who cancels every task there is doesn't mean the run."""

    def cancel(self, msg: Any = None) -> bool:  # noqa: ANN401 - as asyncio has it
        del msg
        return False

    def give_up(self) -> None:
        """Cancel it after all."""
        super().cancel()
