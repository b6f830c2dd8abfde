"""Values of secrets in, and out comes what finds them in a text and puts their names in their
place. It is made anew when another value becomes known, and never changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from evalcase.model.json_value import JSON
from evalcase.model.quick_dataclass import dataclass, field
from evalcase.text.secret_forms import PIECE, SHORTEST, forms_of, in_json, numbers_of, pieces_of

_EDGE = 10_000
"""Characters at the beginning and at the end of a text in which pieces are looked for."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is looked for, by now: each with the name that takes its place."""

    values: dict[str, str] = field(default_factory=dict)
    """Every value that was ever seen."""
    names: dict[str, str] = field(default_factory=dict)
    """Every form of them."""
    in_json: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    pieces: dict[str, str] = field(default_factory=dict)
    numbers: dict[int | float, str] = field(default_factory=dict)

    def finds(self, text: str) -> bool:
        """Whether some string or number in this JSON text may hold a secret. Most rows end here:
        looking for each form in turn is faster than one pattern that knows them all."""
        for form in self.in_json:  # noqa: SIM110 - any() takes twice as long
            if form in text:
                return True
        return False

    def data(self, text: str) -> str:
        """A text without secrets."""
        if self.pattern is None or not any(form in text for form in self.names):
            return text
        parts: list[str] = []
        done = 0
        for start, end, name in self._spans(text):
            parts += text[done:start], f"***{name}***"
            done = end
        return "".join([*parts, text[done:]])

    def told(self, text: str) -> str:
        """A text without secrets, nor pieces of them: it was cut somewhere, perhaps within one."""
        text = self.data(text)
        if len(text) <= 2 * _EDGE:
            return self._without_pieces(text)
        first, last = self._without_pieces(text[:_EDGE]), self._without_pieces(text[-_EDGE:])
        return first + text[_EDGE:-_EDGE] + last

    def number(self, value: float) -> JSON:
        """A number, or the text that takes its place."""
        name = self.numbers.get(value)
        if name is not None:
            return f"***{name}***"
        text = repr(value)
        clean = self.data(text)
        return value if clean == text else clean

    def has_piece(self, text: str) -> bool:
        """Whether a text holds a piece of a secret."""
        for at in range(len(text) - PIECE + 1):  # noqa: SIM110 - any() takes twice as long
            if text[at : at + PIECE] in self.pieces:
                return True
        return False

    def _spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where secrets are, and their names. Those that overlap are one."""
        assert self.pattern is not None
        start, end, name = 0, 0, ""
        for match in self.pattern.finditer(text):
            if match.start() >= end:
                if end:
                    yield start, end, name
                start, name = match.start(), self.names[match[1]]
            end = max(end, match.end(1))
        yield start, end, name

    def _without_pieces(self, text: str) -> str:
        if not self.pieces or not self.has_piece(text):
            return text
        parts: list[str] = []
        at = done = 0
        while at <= len(text) - PIECE:
            name = self.pieces.get(text[at : at + PIECE])
            if name is None:
                at += 1
                continue
            parts += text[done:at], f"***{name}***"
            while text[at : at + PIECE] in self.pieces:
                at += 1
            at = done = at + PIECE - 1
        return "".join([*parts, text[done:]])


def know(values: dict[str, str]) -> Known:
    """What finds some values, each given with its name."""
    names: dict[str, str] = {}
    pieces: dict[str, str] = {}
    numbers: dict[int | float, str] = {}
    for value, name in values.items():
        for form in forms_of(value):
            if len(form) >= SHORTEST or form == value:
                names.setdefault(form, name)
        for piece in pieces_of(value):
            pieces.setdefault(piece, name)
        for number in numbers_of(value):
            numbers.setdefault(number, name)
            names.setdefault(repr(number), name)
    longest_first = sorted(names, key=len, reverse=True)
    # Looking ahead, so that of two secrets that overlap neither hides the other.
    pattern = re.compile(f"(?=({'|'.join(map(re.escape, longest_first))}))") if names else None
    return Known(values, names, _shortest(map(in_json, names)), pattern, pieces, numbers)


def _shortest(forms: Iterable[str]) -> tuple[str, ...]:
    """Those that have none of the others in them: where one is found, the others needn't be."""
    found: list[str] = []
    for form in sorted(set(forms), key=len):
        if not any(shorter in form for shorter in found):
            found.append(form)
    return tuple(found)
