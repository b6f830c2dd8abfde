"""How much a target may be asked in a minute, in requests and in tokens: as configured, and as its
service says in what it sends. Every time is given, and none is taken."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import TypeGuard

from evalcase.model.quota import Allowance, Quota
from evalcase.run.limits import Rate
from evalcase.run.pace import LONGEST_PAUSE_S

MINUTE_S = 60.0


class Share:
    """Something that was taken at a time."""

    __slots__ = ("amount", "at", "is_held")

    def __init__(self, at: float, amount: float) -> None:
        self.at = at
        self.amount = amount
        self.is_held = True
        """Whether the minute that it is part of is not over."""


class Minute:
    """What was taken within the last minute. It is never more than `most`, wherever the minute
    begins; only what is more by itself goes alone."""

    def __init__(self, most: float) -> None:
        self.most = most
        self._total = 0.0
        self._shares: deque[Share] = deque()

    def ready_in(self, now: float, amount: float) -> float:
        """Seconds until so much more may be taken."""
        self._forget(now)
        over = self._total + amount - self.most
        if over <= 0 or not self._shares:
            return 0.0
        for share in self._shares:
            over -= share.amount
            if over <= 0:
                break
        return share.at + MINUTE_S - now

    def take(self, now: float, amount: float) -> Share:
        share = Share(now, amount)
        self._shares.append(share)
        self._total += amount
        return share

    def correct(self, share: Share, amount: float) -> None:
        """It turned out to be more, or less."""
        if share.is_held:
            self._total += amount - share.amount
        share.amount = amount

    def _forget(self, now: float) -> None:
        shares = self._shares
        while shares and shares[0].at + MINUTE_S <= now:
            share = shares.popleft()
            share.is_held = False
            self._total -= share.amount
        if not shares:
            self._total = 0.0  # what sums of floats leave over


class Remainder:
    """What a service said to be left at a time. It comes back bit by bit where it is known how
    much there can be, and else all at once."""

    def __init__(self, said: Allowance, now: float, under_way: float) -> None:
        """`under_way` may have been counted there, or not yet: it is taken to be not."""
        self._left = said.left - under_way
        self._at = now
        self._full_in_s = said.full_in_s
        gone = 0.0 if said.most is None else said.most - said.left
        self._per_s = gone / said.full_in_s if said.full_in_s > 0 else inf

    def ready_in(self, now: float, amount: float) -> float:
        passed_s = now - self._at
        missing = amount - self._left
        if missing <= 0 or passed_s >= self._full_in_s:
            return 0.0
        wait_s = missing / self._per_s if self._per_s > 0 else inf
        return max(0.0, min(wait_s, self._full_in_s) - passed_s)

    def take(self, amount: float) -> None:
        self._left -= amount


class Rates:
    """Says when a target may be asked again. What a question takes is only known once it is
    answered: until then it is counted as what those before it took on average."""

    def __init__(self, rate: Rate) -> None:
        self._requests = None if rate.rpm is None else Minute(rate.rpm)
        self._tokens = None if rate.tpm is None else Minute(rate.tpm)
        self._learnt_requests: Remainder | None = None
        self._learnt_tokens: Remainder | None = None
        self._settled = 0
        self._known = 0
        self._sum = 0.0

    @property
    def counts_tokens(self) -> bool:
        """Whether it was told how many tokens there may be."""
        return self._tokens is not None

    def ready_in(self, now: float, under_way: int) -> float:
        """Seconds until another question may be asked; infinite if one has to be answered
        before."""
        if self._tokens is not None and not self._settled and under_way:
            return inf  # nobody knows yet what a question takes
        guess = self._guess()
        return max(
            0.0 if self._requests is None else self._requests.ready_in(now, 1),
            0.0 if self._tokens is None else self._tokens.ready_in(now, guess),
            0.0 if self._learnt_requests is None else self._learnt_requests.ready_in(now, 1),
            0.0 if self._learnt_tokens is None else self._learnt_tokens.ready_in(now, guess),
        )

    def take(self, now: float) -> Share | None:
        """Count one more question."""
        guess = self._guess()
        if self._requests is not None:
            self._requests.take(now, 1)
        if self._learnt_requests is not None:
            self._learnt_requests.take(1)
        if self._learnt_tokens is not None:
            self._learnt_tokens.take(guess)
        return None if self._tokens is None else self._tokens.take(now, guess)

    def settle(self, share: Share | None, tokens: int | None) -> None:
        """A question is answered, or failed. What it took is None if nobody says."""
        self._settled += 1
        if tokens is None:
            return
        self._known += 1
        self._sum += tokens
        if share is not None and self._tokens is not None:
            self._tokens.correct(share, tokens)

    def learn(self, quota: Quota, now: float, under_way: int) -> None:
        """Go by what the service said last, unless nobody would wait for that long."""
        if _is_of_use(quota.requests):
            self._learnt_requests = Remainder(quota.requests, now, under_way)
        if _is_of_use(quota.tokens):
            self._learnt_tokens = Remainder(quota.tokens, now, under_way * self._guess())

    def _guess(self) -> float:
        return self._sum / self._known if self._known else 0.0


def _is_of_use(said: Allowance | None) -> TypeGuard[Allowance]:
    return said is not None and said.full_in_s <= LONGEST_PAUSE_S
