"""Writes plain values as YAML the way people do: mixed styles, comments, anchors and aliases.

A dumper would write one uniform style, and a parser's speed depends on the style.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

# A letter first and nothing with a meaning in YAML, in block or flow style.
_PLAIN = re.compile(r"[^\W\d_][\w €?.-]*")
_RESERVED = frozenset({"true", "false", "null"})
_NO_ANCHORS: Mapping[str, object] = {}


class YamlText:
    """Turns cases into lines. `shared` names the values that are anchored once and then aliased."""

    def __init__(self, shared: Mapping[str, object] = _NO_ANCHORS, seed: int = 1) -> None:
        self._shared = shared
        self._aliases: dict[int, str] = {}
        self._random = Random(seed)

    def suite(self, name: str, cases: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        """Yield a whole file, line by line."""
        yield "# generated: do not edit"
        yield f"name: {name}"
        if self._shared:
            yield "x-shared:"
            yield from self._anchors()
        yield "cases:"
        for case in cases:
            if self._random.random() < 0.1:
                yield "  # reviewed, still true after the change of carrier"
            yield from self._items([case], 2)

    def _anchors(self) -> Iterator[str]:
        for name, value in self._shared.items():
            first, *rest = self._entry(name, value, 2)
            key, _, tail = first.partition(":")
            yield f"{key}: &{name}{tail}"
            yield from rest
            self._aliases[id(value)] = name

    def _block(self, value: object, indent: int) -> Iterator[str]:
        if isinstance(value, list):
            yield from self._items(value, indent)
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from self._entry(key, item, indent)

    def _items(self, items: Iterable[object], indent: int) -> Iterator[str]:
        """Each item is a mapping: its first entry stands on the line of the dash."""
        for item in items:
            first, *rest = self._block(item, indent + 2)
            comment = "  # keep" if self._random.random() < 0.03 and not first.endswith("|") else ""
            yield " " * indent + "- " + first.lstrip() + comment
            yield from rest

    def _entry(self, key: str, value: object, indent: int) -> Iterator[str]:
        start = " " * indent + key + ":"
        if id(value) in self._aliases:
            yield f"{start} *{self._aliases[id(value)]}"
        elif isinstance(value, str) and value.endswith("\n"):
            yield f"{start} |"
            yield from (" " * (indent + 2) + line if line else "" for line in value.splitlines())
        elif _fits_on_a_line(value):
            yield f"{start} {self._flow(value)}"
        else:
            yield start
            yield from self._block(value, indent + 2)

    def _flow(self, value: object) -> str:
        if isinstance(value, dict):
            pairs = (f"{key}: {self._flow(item)}" for key, item in value.items())
            return "{ " + ", ".join(pairs) + " }"
        if isinstance(value, list):
            return "[" + ", ".join(self._flow(item) for item in value) + "]"
        return self._scalar(value)

    def _scalar(self, value: object) -> str:
        if isinstance(value, str) and _can_be_plain(value):
            is_text = " " in value
            if not is_text or self._random.random() < 0.5:
                return value
        return json.dumps(value, ensure_ascii=False)


def _can_be_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and text not in _RESERVED


def _fits_on_a_line(value: object) -> bool:
    """Small collections of scalars are written in flow style, as tags and arguments usually are."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return len(value) < 4 and not any(isinstance(item, dict | list) for item in value)
    return True
