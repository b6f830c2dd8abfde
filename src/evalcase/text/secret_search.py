"""Values of secrets in, and out comes what finds them in a text and puts their names in their
place. It is made anew when another value becomes known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_

from evalcase.model.json_value import JSON
from evalcase.model.quick_dataclass import dataclass, field
from evalcase.text.secret_forms import PIECE, SHORTEST, forms_of, in_json, numbers_of, pieces_of

_EDGE = 10_000
"""Characters at the beginning and at the end of a text in which pieces are looked for."""

_SHORT, _MOST_PLAIN = 100, 1000


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
    plain: set[str] = field(default_factory=set)
    """Texts that were looked at, and have no piece in them."""

    def finds(self, text: str) -> bool:
        """Whether some string or number in this JSON text may hold a secret. Most rows end here:
        looking for each form in turn is faster than one pattern that knows them all."""
        for form in self.in_json:  # noqa: SIM110 - any() takes twice as long
            if form in text:
                return True
        return False

    def data(self, value: JSON) -> JSON:
        """A value without secrets in its keys, texts and numbers: itself if there are none in it,
        or else a copy."""
        return self._scrub(value, self.data_text)

    def told(self, value: JSON) -> JSON:
        """The same for what tells of something else, and may have cut it anywhere: without pieces
        of secrets, too."""
        return self._scrub(value, self.told_text)

    def data_text(self, text: str) -> str:
        """A text without secrets."""
        if self.pattern is None or not any(form in text for form in self.names):
            return text
        parts: list[str] = []
        done = 0
        for start, end, name in self._spans(text):
            parts += text[done:start], f"***{name}***"
            done = end
        return "".join([*parts, text[done:]])

    def told_text(self, text: str) -> str:
        """A text without secrets and pieces of them."""
        text = self.data_text(text)
        if len(text) <= 2 * _EDGE:
            return self._without_pieces(text)
        first, last = self._without_pieces(text[:_EDGE]), self._without_pieces(text[-_EDGE:])
        return first + text[_EDGE:-_EDGE] + last

    def has_piece(self, text: str) -> bool:
        """Whether a text holds a piece of a secret. Short ones are looked at once: most trials have
        the same reason."""
        if text in self.plain:
            return False
        for at in range(len(text) - PIECE + 1):
            if text[at : at + PIECE] in self.pieces:
                return True
        if len(text) <= _SHORT and len(self.plain) < _MOST_PLAIN:
            self.plain.add(text)
        return False

    def _scrub(self, value: JSON, scrub_text: Callable[[str], str]) -> JSON:
        if isinstance(value, str):
            clean = scrub_text(value)
            return value if clean == value else clean
        if isinstance(value, dict):
            return self._scrub_mapping(value, scrub_text)
        if isinstance(value, list | tuple):
            items = [self._scrub(item, scrub_text) for item in value]
            return value if all(map(is_, items, value)) else items
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._scrub_number(value)
        return value

    def _scrub_mapping(
        self, value: dict[str, JSON], scrub_text: Callable[[str], str]
    ) -> dict[str, JSON]:
        copy: dict[str, JSON] = {}
        is_same = True
        for key, item in value.items():
            clean_key, clean = scrub_text(key), self._scrub(item, scrub_text)
            is_same = is_same and clean is item and clean_key == key
            copy[_free(clean_key, copy)] = clean
        return value if is_same else copy

    def _scrub_number(self, value: float) -> JSON:
        name = self.numbers.get(value)
        if name is not None:
            return f"***{name}***"
        text = repr(value)
        clean = self.data_text(text)
        return value if clean == text else clean

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


def _free(key: str, taken: Mapping[str, JSON]) -> str:
    """A key that is not taken: two may have differed in their secrets only."""
    free, count = key, 1
    while free in taken:
        count += 1
        free = f"{key}-{count}"
    return free


def _shortest(forms: Iterable[str]) -> tuple[str, ...]:
    """Those that have none of the others in them: where one is found, the others needn't be."""
    found: list[str] = []
    for form in sorted(set(forms), key=len):
        if not any(shorter in form for shorter in found):
            found.append(form)
    return tuple(found)
