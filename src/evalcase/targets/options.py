"""The options of a target: plain values of any type in, checked values out.

They come from a person's configuration, so each fault names the target's kind and the option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import NoReturn

from evalcase.errors import ConfigError
from evalcase.model.json_value import JSON
from evalcase.model.json_value import kind as kind_of
from evalcase.text.plain_json import NotJsonError, plain
from evalcase.text.suggest import did_you_mean


class Options:
    """Hands out each option once; what nobody asked for by the end is a mistake."""

    def __init__(self, kind: str, values: Mapping[str, object]) -> None:
        self._kind = kind
        self._values = values
        self._known: set[str] = set()

    def has(self, name: str) -> bool:
        self._known.add(name)
        return self._values.get(name) is not None

    def required_text(self, name: str, example: str) -> str:
        if not self.has(name):
            self.refuse(name, f"is missing; for example: {name} = {example}")
        text = self.text(name)
        assert text is not None
        return text

    def text(self, name: str) -> str | None:
        if not self.has(name):
            return None
        value = self._values[name]
        if not isinstance(value, str):
            self.refuse(name, f"is text, not {kind_of(value)}")
        if not value:
            self.refuse(name, "is empty")
        return value

    def texts(self, name: str, otherwise: str) -> list[str]:
        """A list of at least one text. `otherwise` says what to do about a value that is none."""
        value = self._values.get(name) if self.has(name) else None
        if not isinstance(value, list) or not value:
            self.refuse(name, f"is a list of texts, not {kind_of(value)}; {otherwise}")
        for item in value:
            if not isinstance(item, str):
                self.refuse(name, f"is a list of texts, and holds {kind_of(item)}; quote it")
        return list(value)

    def flag(self, name: str) -> bool:
        if not self.has(name):
            return False
        value = self._values[name]
        if not isinstance(value, bool):
            self.refuse(name, f"is true or false, not {kind_of(value)}")
        return value

    def count(self, name: str, default: int) -> int:
        if not self.has(name):
            return default
        value = self._values[name]
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.refuse(name, f"is a whole number of 1 or more, not {value!r}")
        return value

    def number(self, name: str, default: float) -> float:
        """A number over 0."""
        value = self._values[name] if self.has(name) else default
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < inf:
            self.refuse(name, f"is a number over 0, not {value!r}")
        return float(value)

    def json(self, name: str) -> JSON:
        """A value of any shape, as a copy."""
        try:
            return plain(self._values[name]) if self.has(name) else None
        except NotJsonError as error:
            self.refuse(name, f"can't be written as JSON: {error}")

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """One of some words; the first where none is given."""
        if not self.has(name):
            return choices[0]
        value = self._values[name]
        if value not in choices:
            self.refuse(name, f"is one of {', '.join(choices)}, not {value!r}")
        return str(value)

    def mapping(self, name: str) -> dict[str, object]:
        if not self.has(name):
            return {}
        value = self._values[name]
        if not isinstance(value, dict):
            self.refuse(name, f"is a mapping, not {kind_of(value)}")
        return dict(value)

    def environment(self, name: str) -> dict[str, str]:
        """Variables for a process, by name."""
        variables: dict[str, str] = {}
        for key, value in self.mapping(name).items():
            if not isinstance(value, str):
                self.refuse(f"{name}.{key}", f"is text, not {kind_of(value)}; quote it")
            if not key or "=" in key or "\0" in key + value:
                self.refuse(name, f"can't hold a variable {key!r} = {value!r}")
            variables[key] = value
        return variables

    def check_unknown(self) -> None:
        """Raise for the options that nobody asked for; call it last."""
        for name in self._values:
            if name not in self._known:
                self.refuse(name, f"is not an option of it{self._nearest(name)}")

    def refuse(self, name: str, why: str) -> NoReturn:
        raise ConfigError(f"{self._kind} target: `{name}` {why}")

    def _nearest(self, name: str) -> str:
        hint = did_you_mean(name, self._known)
        return f": {hint}" if hint else f"; it has {self._all()}"

    def _all(self) -> str:
        return ", ".join(sorted(self._known)) or "none"
