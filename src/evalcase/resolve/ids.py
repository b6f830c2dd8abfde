"""The ids of a suite's cases: unique, and made from the input where the author gave none."""

from __future__ import annotations

import re
from typing import Any

from evalcase.model.message import text_of

_MAX_SLUG = 40
_DIGITS = 6
_60_BITS = (1 << 60) - 1
"""As many as an integer of 32 bytes has room for; 64 bits take 48 bytes."""


class Ids:
    """The ids given out so far.

    What is remembered of an id is its hash: a million cases cost a few dozen bytes each. Python's
    string hashes are secret, and 60 bits of them long enough that a collision is no practical
    matter.
    """

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._inputs: set[bytes] = set()
        self._copies: dict[str, int] = {}

    def claim(self, id: str) -> bool:
        """Take an id for a case; False if another case has it."""
        number = hash(id) & _60_BITS
        if number in self._taken:
            return False
        self._taken.add(number)
        return True

    def make(self, messages: list[dict[str, Any]]) -> str:
        """An id that depends on the case's own input only; copies of a case are numbered."""
        from hashlib import sha256
        from json import dumps

        canonical = dumps(messages, sort_keys=True, separators=(",", ":"))
        digest = sha256(canonical.encode()).hexdigest()
        slug = _make_slug(messages)
        known = digest[:16].encode()
        if known in self._inputs:
            return self._number(f"{slug}-{digest[:_DIGITS]}")
        self._inputs.add(known)
        for length in range(_DIGITS, len(digest), 2):
            # More digits than six are needed only where two different inputs share them.
            id = f"{slug}-{digest[:length]}"
            if self.claim(id):
                return id
        return self._number(id)

    def _number(self, id: str) -> str:
        while True:
            self._copies[id] = self._copies.get(id, 1) + 1
            numbered = f"{id}-{self._copies[id]}"
            if self.claim(numbered):
                return numbered


def _make_slug(messages: list[dict[str, Any]]) -> str:
    texts = (text_of(message.get("content")) for message in messages if message["role"] == "user")
    text = next((text for text in texts if text), "")
    words = re.sub(r"[\W_]+", "-", text[:400].lower()).strip("-")
    return words[:_MAX_SLUG].strip("-") or "case"
