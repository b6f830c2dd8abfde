"""Values of secrets in, and out comes what finds them in a text and puts their names in their
place. It is made anew when another value becomes known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import is_

from evalcase.model.json_value import JSON
from evalcase.text.escapes import may_be_escaped, read_escapes
from evalcase.text.secret_forms import PIECE, SHORTEST, forms_of, in_json, numbers_of, pieces_of

_EDGE = 10_000
"""Characters at the beginning and at the end of a text in which pieces are looked for."""

_SHORT, _MOST_PLAIN = 100, 1000


class KnownSecrets:
    """What is looked for, by now: each with the name that takes its place."""

    def __init__(
        self,
        values: Mapping[str, str],
        names: Mapping[str, str],
        in_json: tuple[str, ...],
        pieces: Mapping[str, str],
        numbers: Mapping[int | float, str],
    ) -> None:
        self.values = values
        self.pieces = pieces
        self._names = names
        """Every form of a value."""
        self._in_json = in_json
        self._numbers = numbers
        self._plain: set[str] = set()
        """Texts that were looked at, and have no piece in them."""

    def with_value(self, value: str, name: str) -> KnownSecrets:
        """The same, and one value more."""
        numbers = list(numbers_of(value))
        forms = [form for form in forms_of(value) if len(form) >= SHORTEST or form == value]
        forms += map(repr, numbers)
        return KnownSecrets(
            {**self.values, value: name},
            {**dict.fromkeys(forms, name), **self._names},
            (*self._in_json, *_choose_shortest(map(in_json, forms))),
            {**dict.fromkeys(pieces_of(value), name), **self.pieces},
            {**dict.fromkeys(numbers, name), **self._numbers},
        )

    def finds(self, text: str) -> bool:
        """Whether some string or number in this JSON text may hold a secret. Most rows end here:
        looking for each form in turn is faster than one pattern that knows them all."""
        for form in self._in_json:
            if form in text:
                return True
        return bool(self.values) and may_be_escaped(text)

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
        found = [form for form in self._names if form in text]
        if found:
            text = self._without(found, text, text, range(len(text) + 1))
        return self._without_escaped(text) if self.values and may_be_escaped(text) else text

    def told_text(self, text: str) -> str:
        """A text without secrets and pieces of them."""
        text = self.data_text(text)
        if self.pieces and may_be_escaped(text):
            meant = read_escapes(text)[0]
            text = meant if self.has_piece(meant) and not self.has_piece(text) else text
        if len(text) <= 2 * _EDGE:
            return self._without_pieces(text)
        first, last = self._without_pieces(text[:_EDGE]), self._without_pieces(text[-_EDGE:])
        return first + text[_EDGE:-_EDGE] + last

    def _without_escaped(self, text: str) -> str:
        """The same text without values of which some characters are escaped, whichever, or that go
        on in the next line."""
        meant, places = read_escapes(text)
        found = [form for form in self._names if form in meant] if meant != text else []
        return self._without(found, meant, text, places) if found else text

    def _without(self, found: list[str], meant: str, text: str, places: Sequence[int]) -> str:
        """A text without what is found in what it means; `places` says where that stands."""
        parts: list[str] = []
        done = 0
        for start, end, name in self._spans(meant, found):
            parts += text[done : places[start]], f"***{name}***"
            done = places[end]
        return "".join([*parts, text[done:]])

    def has_piece(self, text: str) -> bool:
        """Whether a text holds a piece of a secret. Short ones are looked at once: most trials have
        the same reason."""
        if text in self._plain:
            return False
        for at in range(len(text) - PIECE + 1):
            if text[at : at + PIECE] in self.pieces:
                return True
        if len(text) <= _SHORT and len(self._plain) < _MOST_PLAIN:
            self._plain.add(text)
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
            copy[_find_free_key(clean_key, copy)] = clean
        return value if is_same else copy

    def _scrub_number(self, value: float) -> JSON:
        name = self._numbers.get(value)
        if name is not None:
            return f"***{name}***"
        text = repr(value)
        clean = self.data_text(text)
        return value if clean == text else clean

    def _spans(self, text: str, forms: list[str]) -> Iterator[tuple[int, int, str]]:
        """Where secrets are, and their names. Those that overlap are one."""
        longest_first = sorted(forms, key=len, reverse=True)
        # Looking ahead, so that of two secrets that overlap neither hides the other.
        pattern = re.compile(f"(?=({'|'.join(map(re.escape, longest_first))}))")
        start, end, name = 0, 0, ""
        for match in pattern.finditer(text):
            if match.start() >= end:
                if end:
                    yield start, end, name
                start, name = match.start(), self._names[match[1]]
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


NO_SECRETS = KnownSecrets({}, {}, (), {}, {})
"""Before any value is known."""


def _find_free_key(key: str, taken: Mapping[str, JSON]) -> str:
    """A key that is not taken: two may have differed in their secrets only."""
    free, count = key, 1
    while free in taken:
        count += 1
        free = f"{key}-{count}"
    return free


def _choose_shortest(forms: Iterable[str]) -> tuple[str, ...]:
    """Those that have none of the others in them: where one is found, the others needn't be."""
    found: list[str] = []
    for form in sorted(set(forms), key=len):
        if not any(shorter in form for shorter in found):
            found.append(form)
    return tuple(found)
