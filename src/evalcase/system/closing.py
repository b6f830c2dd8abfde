"""Several things let go of, each whatever becomes of the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack


async def close_all(closes: Iterable[Callable[[], Awaitable[None]]]) -> None:
    """Await each of them in order. What one raised is raised once all had their turn."""
    async with AsyncExitStack() as stack:
        for close in reversed([*closes]):
            stack.push_async_callback(close)
