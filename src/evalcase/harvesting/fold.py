"""Questions that say nearly the same, found in time that grows with their number alone.

Two are the same if they have the same words and signs, whatever their case, numbers and
punctuation; longer ones also if hardly a word differs, and no sign, however long they are: a
question after pages that many share is a question of its own. Each is held against a few that share
one of its rarest-looking pairs, and never against all.
"""

from __future__ import annotations

import re
from hashlib import sha256
from heapq import nsmallest
from itertools import pairwise
from unicodedata import category
from zlib import crc32

ALIKE = 0.8
"""The share of pairs of words that two have in common."""
MOST_OTHERS = 8
"""How many pairs only one of them may have: a word in place of another makes four."""
_SKETCH = 8
_MOST_HELD = 40
_LEAST_WORDS = 12
_MOST_WORDS = 5000
# Beside letters and digits, whatever may change what is meant: signs of arithmetic, money and code,
# pictures, and the marks that other scripts write vowels by. Of punctuation only what stands as a
# sign: before a word or a number, after a number or a letter that stands alone, or by itself.
_WORD = re.compile(
    r"""
    [^\W\d_]+ | \d+
    | [+*<>=^#$%&/@\\|~] | [\xa2-\xa9\xac\xae-\xb1\xb6]
    | (?<![^\W\d_]{2})- | -(?![^\W\d_]{2}) | [\u2010-\u2015](?=\s*\d)
    | (?<=\w)_(?=\w) | !(?=[\w=]) | (?<=\d)! | (?<=\b\w)! | (?<=\s)[?:](?=\s)
    | (?<!\w)\.(?=\w) | (?<=\d):(?=\d) | (?<=\d)['"]
    | [(\[{](?=\s*(?:\d|\w\b)) | (?<=\d)[)\]}] | (?<=\b\w)[)\]}]
    | [\u2030-\u2037\u2044\u2052\uff03-\uff06\uff0a\uff0b\uff0d\uff0f]
    | [^\w\s\x00-\xbf\u2000-\u206f\u3000-\u303f\uff00-\uff0f]
    """,
    re.VERBOSE,
)


class NearFolding:
    """Takes texts one by one, and says which earlier one each is nearly the same as."""

    def __init__(self) -> None:
        self._same: dict[bytes, int] = {}
        self._pairs: dict[int, frozenset[int]] = {}
        self._signs: dict[int, int] = {}
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
        signs = crc32(" ".join(filter(_is_sign, words)).encode())
        sketch = nsmallest(_SKETCH, pairs)
        for pair in sketch:
            for other in self._by_pair.get(pair, ())[-_MOST_HELD:]:
                if signs == self._signs[other] and _are_alike(pairs, self._pairs[other]):
                    return other
        self._pairs[number], self._signs[number] = pairs, signs
        for pair in sketch:
            self._by_pair.setdefault(pair, []).append(number)
        return None


def _are_alike(pairs: frozenset[int], theirs: frozenset[int]) -> bool:
    return len(pairs ^ theirs) <= MOST_OTHERS and len(pairs & theirs) >= ALIKE * len(pairs | theirs)


def _is_sign(word: str) -> bool:
    """Whether it is one of its own, and no part of a word as marks of vowels are."""
    return not word[0].isalnum() and not category(word[0]).startswith("M")
