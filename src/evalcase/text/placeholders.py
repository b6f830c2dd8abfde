"""Placeholders: `{name}` in the texts of a template, replaced by values.

A known name in braces is replaced, in one pass: what is put in is never looked at again. `{{name}}`
is the literal `{name}`. Braces around anything but a name stay as they are.

A loose template is for command lines, which have braces of their own: there `${HOME}`, and a name
that is nothing like a known one, stay as they are written, too. In a strict one they are faults.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.nearest import find_nearest

_STRICT = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
_LOOSE = re.compile(r"(?<!\$)(?:\{\{([A-Za-z_]+)\}\}|\{([A-Za-z_]+)\})")
_NEARLY = 0.75
"""How alike a name must be to a known one to be taken for a misspelling of it."""
_MEANT = {
    **dict.fromkeys(("question", "text", "input", "query", "message", "q", "content"), "prompt"),
    **dict.fromkeys(("user_input", "user_message", "user_prompt"), "prompt"),
    **dict.fromkeys(("history", "conversation", "chat"), "messages"),
    **dict.fromkeys(("id", "case"), "case_id"),
    "session_id": "session",
}
"""What others call what has another name here. For command lines such words are too common."""


class PlaceholderFault(NamedTuple):
    """What is wrong with one placeholder, and where in the value."""

    path: KeyPath
    message: str


class Template:
    """A JSON value with placeholders in its texts: most often just a list of texts."""

    def __init__(self, value: JSON, names: Iterable[str], *, strict: bool = False) -> None:
        self.value = value
        self.names = tuple(names)
        self.strict = strict
        self._pattern = _STRICT if strict else _LOOSE
        found = [
            (match, path)
            for path, text in _find_texts(value)
            for match in self._pattern.finditer(text)
        ]
        self._single = _find_first((match[2], path) for match, path in found)
        self.used = self._single.keys() & set(self.names)
        """The known names that stand in it."""
        doubled = _find_first((match[1], path) for match, path in found)
        self.escaped = {name: path for name, path in doubled.items() if name in self.names}
        """The known names that are meant literally, with where each is."""
        self._literal = {
            name for name in doubled if strict or name in self.names or self._near(name)
        }

    @property
    def texts(self) -> list[str]:
        """Every text in it, in order."""
        return [text for _, text in _find_texts(self.value)]

    def faults(self) -> Iterator[PlaceholderFault]:
        """What is wrong with its placeholders, a sentence each."""
        for name, path in self._single.items():
            near = None if name in self.names else self._near(name)
            if name in self.names or (near is None and not self.strict):
                continue
            told = [f"did you mean {{{near}}}?"] if near is not None else []
            if self.strict:
                there = ", ".join(f"{{{each}}}" for each in self.names)
                told.append(f"{'There' if told else 'there'} are {there};")
            write = "write" if self.strict else "Write"
            literal = f"{write} {{{{{name}}}}} if it is meant literally"
            yield PlaceholderFault(
                path, f"there is no placeholder {{{name}}}: {' '.join([*told, literal])}"
            )

    def fill(self, values: Mapping[str, JSON]) -> JSON:
        """The template with every placeholder replaced; `values` has every used name.

        A text that is one placeholder becomes the value itself. In a longer text a value stands as
        text, as JSON where it is none.
        """
        return self._filled(self.value, values)

    def fill_texts(self, values: Mapping[str, str]) -> list[str]:
        """The same for a list of texts, filled with texts."""
        filled = self.fill(values)
        assert isinstance(filled, list)
        return [text for text in filled if isinstance(text, str)]

    def _filled(self, value: JSON, values: Mapping[str, JSON]) -> JSON:
        if isinstance(value, dict):
            return {key: self._filled(item, values) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item, values) for item in value]
        if not isinstance(value, str):
            return value
        whole = self._pattern.fullmatch(value)
        if whole is not None and whole[2] in self.names:
            return values[whole[2]]

        def put(match: re.Match[str]) -> str:
            if match[2] in self.names:
                return value_as_text(values[match[2]])
            return match[0][1:-1] if match[1] in self._literal else match[0]

        return self._pattern.sub(put, value)

    def _near(self, name: str) -> str | None:
        meant = _MEANT.get(name) if self.strict else None
        if meant in self.names:
            return meant
        return find_nearest(name, self.names, 0.6 if self.strict else _NEARLY)


def _find_texts(value: JSON, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Every text in a value, with where it is."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _find_texts(item, (*path, key))


def _find_first(named: Iterable[tuple[str | None, KeyPath]]) -> dict[str, KeyPath]:
    """The names that there are, with the first place of each."""
    found: dict[str, KeyPath] = {}
    for name, path in named:
        if name is not None:
            found.setdefault(name, path)
    return found


def value_as_text(value: JSON) -> str:
    """A value as it stands within a longer text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
