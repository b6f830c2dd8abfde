"""Questions that say nearly the same, found in time that grows with their number alone.

Two are the same if they have the same words, whatever their case, numbers and punctuation; longer
ones also if hardly a word differs, however long they are: a question after pages that many share is
a question of its own. Each is held against a few that share one of its rarest-looking pairs, and
never against all.
"""

from __future__ import annotations

import re
from hashlib import sha256
from heapq import nsmallest
from itertools import pairwise
from zlib import crc32

from evalcase.text.late_pattern import late_pattern

ALIKE = 0.8
"""The share of pairs of words that two have in common."""
MOST_OTHERS = 8
"""How many pairs only one of them may have: a word in place of another makes four."""
_SKETCH = 8
_MOST_HELD = 40
_LEAST_WORDS = 12
_MOST_WORDS = 5000
# Beside letters and digits, whatever changes what is meant: signs of arithmetic, pictures, and the
# marks that other scripts write vowels by; but no punctuation.
_WORD = late_pattern(
    r"[^\W\d_]+|\d+|[+*<>=^]|[^\w\s\x00-\xbf\u2000-\u206f\u3000-\u303f\uff00-\uff0f]", re.UNICODE
)


class NearFolding:
    """Takes texts one by one, and says which earlier one each is nearly the same as."""

    def __init__(self) -> None:
        self._same: dict[bytes, int] = {}
        self._pairs: dict[int, frozenset[int]] = {}
        self._by_pair: dict[int, list[int]] = {}

    def find(self, text: str, number: int) -> int | None:
        """The number of the earlier text; None, and it is kept, if there is none."""
        words = ["0" if word.isdecimal() else word for word in _WORD.findall(text.casefold())]
        key = sha256((" ".join(words) or text.strip()).encode("utf-8", "replace")).digest()
        if key in self._same:
            return self._same[key]
        found = self._near(words, number) if len(words) <= _MOST_WORDS else None
        self._same[key] = number if found is None else found
        return found

    def _near(self, words: list[str], number: int) -> int | None:
        if len(words) < _LEAST_WORDS:
            return None
        pairs = frozenset(crc32(f"{left} {right}".encode()) for left, right in pairwise(words))
        sketch = nsmallest(_SKETCH, pairs)
        for pair in sketch:
            for other in self._by_pair.get(pair, ())[-_MOST_HELD:]:
                if _are_alike(pairs, self._pairs[other]):
                    return other
        self._pairs[number] = pairs
        for pair in sketch:
            self._by_pair.setdefault(pair, []).append(number)
        return None


def _are_alike(pairs: frozenset[int], theirs: frozenset[int]) -> bool:
    return len(pairs ^ theirs) <= MOST_OTHERS and len(pairs & theirs) >= ALIKE * len(pairs | theirs)
