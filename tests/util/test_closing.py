from __future__ import annotations

import asyncio
from functools import partial

import pytest

from evalcase.util.user_calls import close_all


def test_each_is_closed_in_order_whatever_another_raises() -> None:
    closed: list[str] = []

    async def close(name: str) -> None:
        closed.append(name)
        if name != "second":
            raise OSError(name)

    async def hang() -> None:
        await asyncio.Event().wait()

    with pytest.raises(OSError, match="third"):
        asyncio.run(close_all(partial(close, name) for name in ("first", "second", "third")))
    assert closed == ["first", "second", "third"]

    async def give_up() -> None:
        async with asyncio.timeout(0.01):
            await close_all([hang, partial(close, "second")])

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert closed[3:] == ["second"]
