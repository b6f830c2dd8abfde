"""Placeholders of targets: `{name}` in the texts of a template, replaced by values.

Values are never searched for placeholders. `{{name}}` is the literal `{name}`. Braces around
anything but a name stay as they are. So do unknown names in a loose template, for command lines,
which have braces of their own: `${HOME}`; in a strict template an unknown name is a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from evalcase.types.problem import KeyPath, find_nearest
from evalcase.types.value import JSON

_STRICT = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
_LOOSE = re.compile(r"(?<!\$)(?:\{\{([A-Za-z_]+)\}\}|\{([A-Za-z_]+)\})")


_ELSEWHERE = {
    **dict.fromkeys(("question", "text", "input", "query", "message", "content"), "prompt"),
    **dict.fromkeys(("history", "conversation", "chat"), "messages"),
    **dict.fromkeys(("id", "case"), "case_id"),
}
"""Names that other tools have for our placeholders."""


class Template:
    """A JSON value with placeholders in its texts."""

    def __init__(self, value: JSON, names: Iterable[str], *, strict: bool = False) -> None:
        self.value = value
        self.names = tuple(names)
        self.strict = strict
        self._pattern = _STRICT if strict else _LOOSE
        self._single: dict[str, KeyPath] = {}
        doubled: dict[str, KeyPath] = {}
        for path, text in _find_texts(value):
            for literal, name in self._pattern.findall(text):
                (doubled if literal else self._single).setdefault(literal or name, path)
        self.used = self._single.keys() & set(self.names)
        """The known names that are placeholders in it."""
        self.escaped = {name: path for name, path in doubled.items() if name in self.names}
        """The known names that are literals, with the first place of each."""
        self._literals = {
            name for name in doubled if strict or name in self.names or self._near(name)
        }

    @property
    def texts(self) -> list[str]:
        return [text for _, text in _find_texts(self.value)]

    def faults(self) -> Iterator[tuple[KeyPath, str]]:
        """What is wrong with its placeholders: the path of each, and a sentence."""
        for name, path in self._single.items():
            near = self._near(name)
            if name in self.names or (near is None and not self.strict):
                continue
            names = ", ".join(f"{{{each}}}" for each in self.names)
            meant = (
                f"there are {names}; write" if near is None else f"did you mean {{{near}}}? Write"
            )
            what = f"there is no placeholder {{{name}}}"
            yield path, f"{what}: {meant} {{{{{name}}}}} if it is meant literally"

    def fill(self, values: Mapping[str, JSON]) -> JSON:
        """The template with every placeholder replaced; `values` has every used name.

        A text that is one placeholder becomes the value itself. In a longer text a value stands as
        text, as JSON if it is none.
        """
        return self._fill(self.value, values)

    def fill_texts(self, values: Mapping[str, str]) -> list[str]:
        """The same for a list of texts, filled with texts."""
        filled = self.fill(values)
        assert isinstance(filled, list)
        return [text for text in filled if isinstance(text, str)]

    def _fill(self, value: JSON, values: Mapping[str, JSON]) -> JSON:
        if isinstance(value, dict):
            return {key: self._fill(item, values) for key, item in value.items()}
        if isinstance(value, list):
            return [self._fill(item, values) for item in value]
        if not isinstance(value, str):
            return value
        whole = self._pattern.fullmatch(value)
        if whole is not None and whole[2] in self.names:
            return values[whole[2]]

        def put(match: re.Match[str]) -> str:
            if match[2] in self.names:
                return value_as_text(values[match[2]])
            return match[0][1:-1] if match[1] in self._literals else match[0]

        return self._pattern.sub(put, value)

    def _near(self, name: str) -> str | None:
        """The known name that was probably meant."""
        meant = _ELSEWHERE.get(name)
        if self.strict and meant in self.names:
            return meant
        return find_nearest(name, self.names, 0.6 if self.strict else 0.75)


def _find_texts(value: JSON, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _find_texts(item, (*path, key))


def value_as_text(value: JSON) -> str:
    """A value as it stands within a longer text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
