"""What nobody wants in a suite, found by patterns: keys, and what belongs to a person.

Texts in, the same out with `[email 1]` in the place of each thing that was found. The same thing
has the same number everywhere, so that what belongs together stays so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from evalcase.model.json_value import JSON
from evalcase.text.credentials import KEYS
from evalcase.text.pattern_cost import worst_steps

_MOST_STEPS = 2_000_000_000


def _is_always_one(_: str) -> bool:
    return True


def is_card_number(text: str) -> bool:
    """Whether digits pass Luhn's test, as those of payment cards do."""
    digits = [int(each) for each in text if each.isdecimal()]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[-2::-2]]
    return 13 <= len(digits) <= 19 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


class Finder(NamedTuple):
    """A kind of thing that is replaced: what it is called, and how it looks."""

    name: str
    pattern: str
    is_one: Callable[[str], bool] = _is_always_one


# Each repeat is bounded, so that no text takes longer than its length allows.
USUAL = (
    Finder("private key", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,10000}"
           r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"),
    Finder("key", KEYS),
    Finder("password", r"(?<=://)[^\s/@:]{1,100}:[^\s/@]{1,100}(?=@)"),
    Finder("email", r"[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"),
    Finder("iban", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"),
    Finder("card", r"\b[0-9](?:[ -]?[0-9]){12,18}\b", is_card_number),
    Finder("phone", r"(?<![\w+])(?:\+|00)[1-9](?:[ ()/.-]{0,2}[0-9]){7,13}\b"),
)  # fmt: skip


class SlowPatternError(ValueError):
    """A pattern would take too long in a text. The message says which, and what helps."""


class Replacing:
    """Replaces what its finders find, and keeps count."""

    def __init__(self, finders: Iterable[Finder]) -> None:
        self._finders = [(each, re.compile(each.pattern)) for each in finders]
        self._numbers: dict[tuple[str, str], int] = {}
        self._last: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        """How often something was replaced, by what it is called."""

    def text(self, text: str) -> str:
        """Raise SlowPatternError rather than to take without end."""
        for finder, pattern in self._finders:
            if finder not in USUAL:
                _refuse_slow(finder, len(text))
            text = pattern.sub(lambda found, name=finder: self._mark(name, found[0]), text)  # type: ignore[misc]
        return text

    def data(self, value: JSON) -> JSON:
        """A copy of a value with nothing of it in its keys, texts and numbers."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.data(each) for each in value]
        if isinstance(value, Mapping):
            return {self._key(key, value): self.data(each) for key, each in value.items()}
        if isinstance(value, int | float) and not isinstance(value, bool):
            written = str(value)
            replaced = self.text(written)
            return value if replaced == written else replaced
        return value

    def _key(self, key: str, among: Mapping[str, JSON]) -> str:
        """A key without it; another of the same mapping that is named so already stays."""
        clean = self.text(key)
        while clean != key and clean in among:
            clean += "'"
        return clean

    def _mark(self, finder: Finder, found: str) -> str:
        if not found or not finder.is_one(found):
            return found
        name = finder.name
        if (name, found) not in self._numbers:
            self._last[name] += 1
            self._numbers[name, found] = self._last[name]
        self.counts[name] += 1
        return f"[{name} {self._numbers[name, found]}]"


def _refuse_slow(finder: Finder, length: int) -> None:
    steps = worst_steps(finder.pattern, length)
    if steps is None or steps > _MOST_STEPS:
        what = f"the pattern `{finder.name}` may take too long in a text of {length:,} characters"
        raise SlowPatternError(f"{what}: bound its repeats, as in {{1,100}}")
