"""How much each target is asked at once and in a minute, when to retry, and what a run may spend.

`Limits` says what options and configuration allow. `Pace` adapts to one target: it halves the
concurrency on overload, waits as long as the service says, and keeps requests and tokens a minute.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from typing import NamedTuple

from msgspec import Struct

from evalcase.config.config import Config
from evalcase.config.options import CONCURRENCY, RETRIES, TIMEOUT_S, RunOptions
from evalcase.errors import TargetError
from evalcase.runner.calls import Attempted
from evalcase.types.answer import Answer
from evalcase.types.target import Traits
from evalcase.types.value import Value
from evalcase.util.errors import UserCodeError, leaves_of

LONGEST_PAUSE_S = 300.0
"""The longest wait that a service may ask for."""
MINUTE_S = 60.0
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


class Rate(NamedTuple):
    """Requests and tokens a minute; None is no limit."""

    rpm: int | None = None
    tpm: int | None = None


class Limits(Value, frozen=True):
    concurrency: int = CONCURRENCY
    """Trials at once, over all targets."""
    per_target: dict[str, int] | None = None
    """Trials at once, by target."""
    bounds: dict[str, int] | None = None
    """Questions at once that the configuration allows, by target."""
    rates: dict[str, Rate] | None = None
    """The same for a minute."""
    timeout_s: float = TIMEOUT_S
    timeout_wins: bool = False
    """Whether `timeout_s` overrides that of a case, because the command line has it."""
    retries: int = RETRIES
    retry_timeouts: bool = False

    @classmethod
    def of(cls, options: RunOptions, config: Config, per_target: dict[str, int]) -> Limits:
        targets = config.targets.items()
        return cls(
            options.concurrency or config.concurrency,
            per_target,
            {name: each["concurrency"] for name, each in targets if each.get("concurrency")},
            {name: Rate(each.get("rpm"), each.get("tpm")) for name, each in targets},
            options.timeout_s or config.timeout_s,
            options.timeout_s is not None,
            config.retries if options.retries is None else options.retries,
            options.retry_timeouts,
        )

    def of_case(self, timeout_s: float | None, traits: Traits) -> float:
        """The time limit of an attempt; `timeout_s` is that of the case."""
        if self.timeout_wins:
            return self.timeout_s
        if timeout_s is not None:
            return timeout_s
        return max(self.timeout_s, traits.timeout_s or 0.0)

    def of_pace(self, name: str, own: int | None) -> int:
        """How many questions a target is asked at once; `own` is the target's own limit."""
        bounds = self.concurrency, (self.bounds or {}).get(name), own
        return min(bound for bound in bounds if bound is not None)

    def of_rate(self, name: str, own: Rate) -> Rate | None:
        """What a target is asked in a minute; None without a limit."""
        both = zip((self.rates or {}).get(name, Rate()), own, strict=True)
        rate = Rate(*(min(filter(None, each), default=None) for each in both))
        return None if rate == Rate() else rate

    def of_target(self, name: str) -> int:
        return min(self.concurrency, (self.per_target or {}).get(name, self.concurrency))


class Budget(Struct):
    """Adds up costs of targets, judges and simulated users."""

    cap_usd: float | None
    spent_usd: float

    @property
    def is_spent(self) -> bool:
        return self.cap_usd is not None and self.spent_usd >= self.cap_usd

    @property
    def reason(self) -> str:
        """Why no more trials are started once it is spent."""
        return f"the spending cap of {self.cap_usd:g} USD is reached; raise it to start more trials"


def wait_before_retry(
    error: BaseException, attempt: int, retries: int, retry_timeouts: bool,
    random: Callable[[], float],
) -> float | None:  # fmt: skip
    """Seconds until the next attempt; None if there is none.

    Waits double, with jitter, so that trials that failed together don't come back together. A
    service that says when to come back is believed.
    """
    error = leaves_of(error)[0]
    is_late = isinstance(error, UserCodeError) and error.facts.sort == "timeout"
    if is_late or isinstance(error, TimeoutError):
        may_succeed_later = retry_timeouts
    else:
        may_succeed_later = isinstance(error, TargetError) and error.may_succeed_later
    if attempt > retries or not may_succeed_later:
        return None
    if isinstance(error, TargetError) and error.retry_after_s is not None:
        if error.retry_after_s > LONGEST_PAUSE_S:
            return None
        return error.retry_after_s * (1 + 0.1 * random())
    longest: float = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** min(attempt - 1, 10))
    return longest * (0.5 + 0.5 * random())


# Requests and tokens a minute. Every time is an argument.


class Start(Struct):
    """The start of an attempt."""

    at: float = 0.0
    """When it was, where requests or tokens a minute are counted."""
    tokens: float = 0.0
    """What it takes of the tokens of a minute, as far as that is known."""
    halvings: int = 0
    """How often the limit of its target had been halved by then."""


class Rates:
    """When a target may be asked again. The tokens of a question are known after its answer: until
    then it counts as the mean of those before. One that takes more tokens than a minute has may
    start when nothing else is counted."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._starts: deque[Start] = deque()
        """Those of the last minute."""
        self._tokens = 0.0
        """What they take together."""
        self._settled = self._known = 0
        self._sum = 0.0

    @property
    def counts_tokens(self) -> bool:
        return self._rate.tpm is not None

    def ready_in(self, now: float, under_way: int) -> float:
        """Seconds until another question may be asked; infinite until one is answered."""
        (rpm, tpm), starts = self._rate, self._starts
        if tpm is not None and under_way and not self._settled:
            return inf  # the tokens of a question are unknown
        while starts and starts[0].at + MINUTE_S <= now:
            self._tokens -= starts.popleft().tokens
        if not starts:
            self._tokens = 0.0  # no rounding errors stay
        ready_at = now
        if rpm is not None and len(starts) >= rpm:
            ready_at = starts[-rpm].at + MINUTE_S
        if tpm is not None and starts:
            over = self._tokens + self._guess() - tpm
            for start in starts:
                if over <= 0:
                    break
                over -= start.tokens
                ready_at = max(ready_at, start.at + MINUTE_S)
        return ready_at - now

    def take(self, now: float) -> Start:
        start = Start(now, self._guess())
        self._starts.append(start)
        self._tokens += start.tokens
        return start

    def settle(self, start: Start, tokens: int | None) -> None:
        """A question is over. Its tokens are None if they are unknown."""
        self._settled += 1
        if tokens is None:
            return
        self._known += 1
        self._sum += tokens
        if self._starts and start.at >= self._starts[0].at:  # its minute is not over
            self._tokens += tokens - start.tokens
        start.tokens = tokens

    def _guess(self) -> float:
        return self._sum / self._known if self._known else 0.0


# The pace of one target


class Pace:
    """A limit on attempts at once, between 1 and `most`. It is halved on overload and grows by one
    with each round of successes. All wait while the service asks for a pause, and for `rates`."""

    def __init__(
        self, most: int, rates: Rates | None = None,
        warn_untold: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """`warn_untold` tells of answers without the tokens that `rates` counts."""
        self.most = most
        self.limit = float(most)
        self.active = 0
        self.rates = rates
        self._warn_untold = warn_untold
        self._loop = asyncio.get_running_loop()
        self._halvings = 0
        self._pause_end: asyncio.TimerHandle | None = None
        self._rate_end: asyncio.TimerHandle | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def begin(self) -> Start:
        """Wait for one's turn. The result goes to `end`."""
        start, is_first = self.begin_at_once(), True
        while start is None:
            await self._wait_for_turn(is_first)
            is_first = False
            start = self.begin_at_once(is_next=True)
        if self.rates is not None and self._waiting:
            self._wake()
        return start

    def begin_at_once(self, *, is_next: bool = False) -> Start | None:
        """The same without waiting; None if an attempt has to wait, and others before it."""
        if (self._waiting and self.rates is not None and not is_next) or self._room() <= 0:
            return None
        self.active += 1
        start = Start() if self.rates is None else self.rates.take(self._loop.time())
        start.halvings = self._halvings
        return start

    def end(self, start: Start, tried: Attempted | None) -> None:
        """An attempt is over; None if it was cancelled."""
        error = None
        if tried is not None and tried.error is not None:
            error = leaves_of(tried.error)[0]
        if self.rates is not None:
            answer = None if tried is None else tried.answer
            self.rates.settle(start, None if answer is None else self._count_tokens(answer))
        self.active -= 1
        if isinstance(error, TargetError) and error.overloaded:
            # Attempts that were under way when the limit was last halved say nothing new.
            if start.halvings == self._halvings:
                self._halvings += 1
                self.limit = max(1.0, min(self.limit, self.active + 1) / 2)
            # A longer pause is not waited for: the next attempts are refused, and say why.
            if error.retry_after_s and error.retry_after_s <= LONGEST_PAUSE_S:
                self._pause(error.retry_after_s)
        elif self.limit < self.most:
            self.limit = min(self.most, self.limit + 1 / self.limit)
        if self._waiting:
            self._wake()

    def _count_tokens(self, answer: Answer) -> int | None:
        usage = answer.usage
        parts = () if usage is None else (usage.input_tokens, usage.output_tokens)
        given = [part for part in parts if part is not None]
        if not given and self.rates is not None and self.rates.counts_tokens:
            self._warn_untold()
        return sum(given) if given else None

    def _pause(self, pause_s: float) -> None:
        def end() -> None:
            self._pause_end = None
            self._wake()

        until = self._loop.time() + pause_s
        if self._pause_end is not None:
            if self._pause_end.when() >= until:
                return
            self._pause_end.cancel()
        self._pause_end = self._loop.call_at(until, end)

    def _room(self) -> int:
        """How many attempts may start now; with rates, at most one."""
        if self._pause_end is not None:
            return 0
        room = int(self.limit) - self.active
        if self.rates is None or room <= 0:
            return room
        now = self._loop.time()
        wait_s = self.rates.ready_in(now, self.active)
        if 0 < wait_s < inf:
            if self._rate_end is not None:
                self._rate_end.cancel()
            self._rate_end = self._loop.call_at(now + wait_s, self._wake)
        return 0 if wait_s > 0 else 1

    async def _wait_for_turn(self, is_last: bool) -> None:
        """Join the queue: at its end, or at its front after a wake-up in vain."""
        turn: asyncio.Future[None] = self._loop.create_future()
        (self._waiting.append if is_last else self._waiting.appendleft)(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._wake()
            raise

    def _wake(self) -> None:
        """Wake as many as there is room for. Each looks again by itself."""
        room = self._room()
        while self._waiting and room > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                room -= 1
