"""Questions that say nearly the same, found in time that grows with their number alone.

Two are the same if they have the same words, whatever their case, signs and numbers; longer ones
also if four of five of their pairs of words are the same. Each is held against a few that share
one of its rarest-looking pairs, and never against all.
"""

from __future__ import annotations

import re
from heapq import nsmallest
from itertools import pairwise
from zlib import crc32

from evalcase.text.late_pattern import late_pattern

ALIKE = 0.8
_SKETCH = 8
_MOST_HELD = 40
_LEAST_WORDS = 12
_MOST_WORDS = 5000
_WORD = late_pattern(r"[^\W\d_]+|\d+", re.UNICODE)


class NearFolding:
    """Takes texts one by one, and says which earlier one each is nearly the same as."""

    def __init__(self) -> None:
        self._same: dict[str, int] = {}
        self._pairs: dict[int, frozenset[int]] = {}
        self._by_pair: dict[int, list[int]] = {}

    def find(self, text: str, number: int) -> int | None:
        """The number of the earlier text; None, and it is kept, if there is none."""
        words = [
            "0" if word.isdecimal() else word
            for word in _WORD.findall(text.casefold())[:_MOST_WORDS]
        ]
        key = " ".join(words)
        if key in self._same:
            return self._same[key]
        found = self._near(words, number)
        self._same[key] = number if found is None else found
        return found

    def _near(self, words: list[str], number: int) -> int | None:
        if len(words) < _LEAST_WORDS:
            return None
        pairs = frozenset(crc32(f"{left} {right}".encode()) for left, right in pairwise(words))
        sketch = nsmallest(_SKETCH, pairs)
        for pair in sketch:
            for other in self._by_pair.get(pair, ())[-_MOST_HELD:]:
                theirs = self._pairs[other]
                if len(pairs & theirs) >= ALIKE * len(pairs | theirs):
                    return other
        self._pairs[number] = pairs
        for pair in sketch:
            self._by_pair.setdefault(pair, []).append(number)
        return None
