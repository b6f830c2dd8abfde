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

from evalcase.model.json_value import JSON
from evalcase.model.nearest import find_nearest
from evalcase.text.late_pattern import late_pattern

_STRICT = late_pattern(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
_LOOSE = late_pattern(r"(?<!\$)(?:\{\{([A-Za-z_]+)\}\}|\{([A-Za-z_]+)\})")
_NEARLY = 0.75
"""How alike a name must be to a known one to be taken for a misspelling of it."""


class Template:
    """A JSON value with placeholders in its texts: most often just a list of texts."""

    def __init__(self, value: JSON, names: Iterable[str], *, strict: bool = False) -> None:
        self.value = value
        self.names = tuple(names)
        self.strict = strict
        self._pattern = _STRICT if strict else _LOOSE
        found = [match for text in _find_texts(value) for match in self._pattern.finditer(text)]
        self._single = {match[2]: None for match in found if match[2] is not None}
        self.used = self._single.keys() & set(self.names)
        """The known names that stand in it."""
        doubled = {match[1] for match in found if match[1] is not None}
        self._literal = {
            name for name in doubled if strict or name in self.names or self._near(name)
        }

    @property
    def texts(self) -> list[str]:
        """Every text in it, in order."""
        return list(_find_texts(self.value))

    def faults(self) -> Iterator[str]:
        """What is wrong with its placeholders, a sentence each."""
        for name in self._single:
            if name in self.names:
                continue
            near = self._near(name)
            literal = f"write {{{{{name}}}}} if it is meant literally"
            if near is not None:
                hint = f"did you mean {{{near}}}? {literal[0].upper()}{literal[1:]}"
                yield f"there is no placeholder {{{name}}}: {hint}"
            elif self.strict:
                known = ", ".join(f"{{{each}}}" for each in self.names)
                yield f"there is no placeholder {{{name}}}: there are {known}; {literal}"

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
                return _as_text(values[match[2]])
            return match[0][1:-1] if match[1] in self._literal else match[0]

        return self._pattern.sub(put, value)

    def _near(self, name: str) -> str | None:
        return find_nearest(name, self.names, 0.6 if self.strict else _NEARLY)


def _find_texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _find_texts(item)


def _as_text(value: JSON) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
