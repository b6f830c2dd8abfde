"""How many attempts a target is given at once: fewer after it says that it has too much to do,
and one more at a time while all goes well."""

from __future__ import annotations

import asyncio
from collections import deque
from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evalcase.model.quota import Quota
    from evalcase.run.rates import Rates, Share

LONGEST_PAUSE_S = 300.0
"""How long anyone waits because a target says when to come back."""
_NEVER = float("-inf")


class Start(NamedTuple):
    """An attempt that was begun."""

    at: float
    share: Share | None = None
    """What it counts for in the tokens of its minute."""


class Pace:
    """A limit between 1 and `most`. It is halved on overload and grows by one with each round of
    successes; a target that says when to come back is left alone by all until then. Beside that
    its `rates` are kept, if there are any: then all wait in a row."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.active = 0
        self._loop = asyncio.get_running_loop()
        self._slowed_at = _NEVER
        self._opening: asyncio.TimerHandle | None = None
        """Set while the target is to be left alone."""
        self.rates: Rates | None = None
        self._due: asyncio.TimerHandle | None = None
        """Set while somebody waits for a rate."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_free(self) -> bool:
        """Whether an attempt may begin at once."""
        if self.rates is not None and self._waiting:
            return False  # they were here before
        return self._room() > 0

    async def begin(self) -> Start:
        """Wait for one's turn. Return what `end` is told."""
        is_first = True
        while not (self.is_free if is_first else self._room() > 0):
            await self._turn(is_first)
            is_first = False
        turn = self._start()
        if self.rates is not None and self._waiting:
            self._wake()
        return turn

    def begin_at_once(self) -> Start | None:
        """The same, if an attempt may begin now; None if one has to wait."""
        if self.rates is None and self._opening is None:
            if self.limit - self.active < 1:
                return None
            self.active += 1
            return Start(self._loop.time(), None)
        return self._start() if self.is_free else None

    def _start(self) -> Start:
        self.active += 1
        now = self._loop.time()
        return Start(now, None if self.rates is None else self.rates.take(now))

    def end(
        self, turn: Start, *, overloaded: bool, retry_after_s: float | None = None,
        tokens: int | None = None,
    ) -> None:  # fmt: skip
        """Say how an attempt went, and what it took."""
        if self.rates is not None:
            self.rates.settle(turn.share, tokens)
        if not overloaded:
            self.end_well()
            return
        self.active -= 1
        self._slow_down(turn.at)
        # Nobody waits for longer: then those who come next are refused at once, and say why.
        if retry_after_s and retry_after_s <= LONGEST_PAUSE_S:
            self._pause(retry_after_s)
        if self._waiting:
            self._wake()

    def end_well(self) -> None:
        """Say that an attempt went well, where there are no rates to keep."""
        self.active -= 1
        if self.limit < self.most:
            self.limit = min(self.most, self.limit + 1 / self.limit)
        if self._waiting:
            self._wake()

    def learn(self, quota: Quota) -> None:
        """Go by what the target's service said, within an attempt that is about to end."""
        if self.rates is not None:
            self.rates.learn(quota, self._loop.time(), self.active - 1)

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
        """How many may begin now; by rates one after the other."""
        if self._opening is not None:
            return 0
        room = int(self.limit) - self.active
        if self.rates is None or room <= 0:
            return room
        now = self._loop.time()
        wait_s = self.rates.ready_in(now, self.active)
        if 0 < wait_s < inf:
            self._come_back(now + wait_s)
        return 0 if wait_s > 0 else 1

    def _come_back(self, when: float) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due = self._loop.call_at(when, self._wake)

    async def _turn(self, is_last: bool) -> None:
        """Stand in the row; who was called in vain stands in front."""
        turn: asyncio.Future[None] = self._loop.create_future()
        (self._waiting.append if is_last else self._waiting.appendleft)(turn)
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
