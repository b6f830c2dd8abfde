"""How many attempts a target is given at once: fewer after it says that it has too much to do,
and one more at a time while all goes well."""

from __future__ import annotations

import asyncio
from collections import deque

LONGEST_PAUSE_S = 300.0
"""How long anyone waits because a target says when to come back."""
_NEVER = float("-inf")


class Pace:
    """A limit between 1 and `most`. It is halved on overload and grows by one with each round of
    successes; a target that says when to come back is left alone by all until then."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.active = 0
        self._loop = asyncio.get_running_loop()
        self._slowed_at = _NEVER
        self._opening: asyncio.TimerHandle | None = None
        """Set while the target is to be left alone."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_free(self) -> bool:
        """Whether an attempt may begin at once."""
        return self._opening is None and self.active < int(self.limit)

    async def begin(self) -> float:
        """Wait for one's turn. Return the time, for `end`."""
        while not self.is_free:
            await self._turn()
        return self.begin_at_once()

    def begin_at_once(self) -> float:
        """The same, where that is free."""
        self.active += 1
        return self._loop.time()

    def end(self, began: float, *, overloaded: bool, retry_after_s: float | None = None) -> None:
        """Say how an attempt went."""
        self.active -= 1
        if overloaded:
            self._slow_down(began)
            # Nobody waits for longer: then those who come next are refused at once, and say why.
            if retry_after_s and retry_after_s <= LONGEST_PAUSE_S:
                self._pause(retry_after_s)
        elif self.limit < self.most:
            self.limit = min(self.most, self.limit + 1 / self.limit)
        if self._waiting:
            self._wake()

    def _slow_down(self, began: float) -> None:
        # Attempts that were under way when the limit was last halved say nothing new.
        if began >= self._slowed_at:
            self._slowed_at = self._loop.time()
            self.limit = max(1.0, min(self.limit, self.active + 1) / 2)

    def _pause(self, pause_s: float) -> None:
        until = self._loop.time() + pause_s
        if self._opening is not None:
            if self._opening.when() >= until:
                return
            self._opening.cancel()
        self._opening = self._loop.call_at(until, self._open)

    def _open(self) -> None:
        self._opening = None
        self._wake()

    def _room(self) -> int:
        return int(self.limit) - self.active if self._opening is None else 0

    async def _turn(self) -> None:
        turn: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._wake()
            raise

    def _wake(self) -> None:
        """Let as many go on as there is room for; each looks again by itself."""
        room = self._room()
        while self._waiting and room > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                room -= 1
