"""Statements about a suite that hold at every look before all of it has been run.

Looking at an ordinary test after every case until it says yes is wrong far more often than alpha.
These two are wrong at most as often as alpha over all looks together, if cases come
in random order.
"""

from __future__ import annotations

from math import exp, lgamma, log

ALPHA = 0.05


class PassSequence:
    """How many cases of a finite suite pass in all, bounded from those that were run so far.

    The prior-posterior ratio of Waudby-Smith and Ramdas (2020): a number is given up for good once
    what was seen has made it less likely by 1/alpha than it was, starting from all being alike.
    """

    def __init__(self, total: int, alpha: float = ALPHA) -> None:
        self.total = total
        self.seen = 0
        self.passed = 0
        self.low = 0
        """The fewest that may pass in all, and the most."""
        self.high = total
        self._least = log(alpha) - log(total + 1)

    def add(self, passed: bool) -> None:
        """Take the next case."""
        self.seen += 1
        self.passed += passed
        left = self.total - self.seen
        self.low = max(self.low, self.passed)
        self.high = min(self.high, self.passed + left)
        # What is likeliest is never given up, so the ends can be looked for on either side of it.
        likeliest = self.passed + min(left, (left + 1) * self.passed // self.seen)
        if not self._is_kept(self.low):
            self.low = min(self.high, self._first_kept(self.low, likeliest))
        if not self._is_kept(self.high):
            self.high = max(self.low, self._last_kept(likeliest, self.high))

    def _first_kept(self, out: int, kept: int) -> int:
        while kept - out > 1:
            middle = (out + kept) // 2
            out, kept = (out, middle) if self._is_kept(middle) else (middle, kept)
        return kept

    def _last_kept(self, kept: int, out: int) -> int:
        while out - kept > 1:
            middle = (out + kept) // 2
            kept, out = (middle, out) if self._is_kept(middle) else (kept, middle)
        return kept

    def _is_kept(self, whole: int) -> bool:
        """Whether so many may pass in all: by its posterior, a beta-binomial one."""
        total, seen, passed = self.total, self.seen, self.passed
        more, left = whole - passed, total - seen
        if not 0 <= more <= left:
            return False
        ways = lgamma(left + 1) - lgamma(more + 1) - lgamma(left - more + 1)
        posterior = ways + _log_beta(1 + whole, 1 + total - whole)
        return posterior - _log_beta(1 + passed, 1 + seen - passed) > self._least


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def weigh_change(fixed: int, broken: int) -> float:
    """How much what was seen speaks against as many being fixed as broken: an e-value.

    A bet that begins with 1 and is fair if there is no change: it ever comes to 1/alpha in at most
    as many of all comparisons as alpha says.
    """
    changed = fixed + broken
    ways = lgamma(changed + 1) - lgamma(fixed + 1) - lgamma(broken + 1)
    return exp(min(700.0, changed * log(2) - log(changed + 1) - ways))
