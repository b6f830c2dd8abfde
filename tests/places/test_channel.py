"""What a worker may write, as the run's end of it takes it."""

from __future__ import annotations

import asyncio
from typing import Any

from evalcase.places.channel import NO_MESSAGE, Channel, LineChannel
from tests.for_each import for_each


class Ended(LineChannel):
    """A channel whose worker is ended at once."""

    async def close(self, grace_s: float) -> None:
        del grace_s

    def memory_bytes(self) -> int | None:
        return None

    async def _start(self) -> None: ...

    def _flush(self) -> None: ...

    def _end_worker(self) -> None:
        self.lose("it was ended")


class Noted:
    """Who notes what it is told."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def take(self, channel: Channel, message: dict[str, Any]) -> None:
        del channel
        self.heard.append(message)

    def lose(self, channel: Channel, how: str) -> None:
        del channel
        self.heard.append(how)


def hear(*lines: bytes) -> list[object]:
    """What is told of lines that a worker wrote."""

    async def go() -> list[object]:
        channel, noted = Ended(), Noted()
        await channel.start(noted)
        for line in lines:
            channel.hear(line)
        return noted.heard

    return asyncio.run(go())


@for_each(
    "line",
    [
        b"nothing",
        b"[1]",
        b'{"op": "ask", "n": 1}',
        b'{"op": "closed"}',
        b'{"op": "failed", "why": "it says so"}',
        b'{"op": "unheard of"}',
        b'{"n": "1"}',
        b"[" * 50_000,
    ],
)
def test_a_worker_that_writes_what_is_no_message_is_ended_and_believed_no_more(line: bytes) -> None:
    fine = b'{"n": 1}'
    assert hear(fine, line, fine) == [{"n": 1}, NO_MESSAGE]
