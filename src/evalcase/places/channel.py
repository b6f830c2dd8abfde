"""A run's end of one worker: messages out, messages in, and the word that it has ended."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any, Protocol

from evalcase.places.wire import said_by_worker, to_line

NO_MESSAGE = "it wrote something that is not a message"


class Hearer(Protocol):
    """Who is told what comes from a worker."""

    def take(self, channel: Channel, message: dict[str, Any]) -> None: ...
    def lose(self, channel: Channel, how: str) -> None:
        """It has ended; `how` says so in words."""
        ...


class Channel(Protocol):
    """A worker, as a run sees it."""

    async def start(self, listener: Hearer) -> None:
        """Raise TargetError if it can't be started."""
        ...

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, in order; one that has not started yet gets it then."""
        ...

    def kill(self, why: str) -> None:
        """End it at once; `why` is what is told of it."""
        ...

    async def close(self, grace_s: float) -> None:
        """Let it tear down, and end it if that takes longer."""
        ...

    def memory_bytes(self) -> int | None:
        """What it takes just now; None where that can't be seen."""
        ...


class LineChannel(ABC):
    """What channels have in common whose messages are lines: those of one turn of the event loop
    go together, and a worker that says what makes no sense is ended."""

    def __init__(self) -> None:
        self._listener: Hearer | None = None
        self._lines: list[bytes] = []
        """What is still to be sent."""
        self._killed_for = ""
        self._over = asyncio.Event()

    async def start(self, listener: Hearer) -> None:
        self._listener = listener
        await self._start()
        self._flush()

    def send(self, message: dict[str, Any]) -> None:
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._flush)
        self._lines.append(to_line(message))

    def kill(self, why: str) -> None:
        self._killed_for = self._killed_for or why
        self._end_worker()

    def hear(self, line: bytes) -> None:
        """Take a line that it wrote. Nothing is believed that comes after nonsense."""
        assert self._listener is not None
        if self._killed_for:
            return
        try:
            message = said_by_worker(line)
        except ValueError:
            self.kill(NO_MESSAGE)
            return
        if message.get("op") in ("closed", "failed"):
            self._hear_of_end(message)
        else:
            self._listener.take(self, message)

    def _hear_of_end(self, message: dict[str, Any]) -> None:
        """Take what only some workers say: that they have torn down, or why they end."""
        del message
        self.kill(NO_MESSAGE)

    def lose(self, how: str) -> None:
        """Tell, once, that it has ended."""
        if not self._over.is_set():
            self._over.set()
            assert self._listener is not None
            self._listener.lose(self, self._killed_for or how)

    @abstractmethod
    async def close(self, grace_s: float) -> None: ...

    @abstractmethod
    def memory_bytes(self) -> int | None: ...

    @abstractmethod
    async def _start(self) -> None: ...

    @abstractmethod
    def _flush(self) -> None:
        """Send what is to be sent, if it has started."""

    @abstractmethod
    def _end_worker(self) -> None: ...
