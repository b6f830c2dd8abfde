"""Asks the JSON Schemas of evalcase about one position: which fields and values fit there, and the
sentence about each. Conditions are evaluated with the data around the position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from jsonschema_rs import Draft202012Validator

from evalcase.config.catalogue import sidecar_schema, suite_schema
from evalcase.editor.cursor import Cursor, value_below
from evalcase.types.value import JSON

SchemaPart: TypeAlias = dict[str, Any]


class Offer(NamedTuple):
    """Something that can be written, and what is said of it."""

    name: JSON
    about: str
    takes: tuple[str, ...] = ()
    """The types of values that a field may have, where that is said."""


class SchemaWalk:
    """One schema, asked about many places."""

    def __init__(self, root: SchemaPart) -> None:
        self._root = root
        self._found: dict[str, Any] = {}
        self._validators: dict[int, Draft202012Validator] = {}
        """Of parts of the schema, by their identities."""

    def find(self, reference: str) -> Any:  # noqa: ANN401 - a part of a schema is any JSON
        """What a reference of the schema to itself leads to."""
        if reference not in self._found:
            part: Any = self._root
            for step in reference.removeprefix("#/").split("/"):
                part = part[step.replace("~1", "/").replace("~0", "~")]
            self._found[reference] = part
        return self._found[reference]

    def parts_at(self, cursor: Cursor, leaf: JSON) -> list[SchemaPart]:
        """The parts that hold at a cursor's path if it holds `leaf`, the nearest first."""
        value = cursor.value(leaf)
        parts = list(self._spread([self._root], value))
        for step in cursor.path:
            below = value_below(value, step)
            parts = list(self._spread(self._below(parts, step), below))
            value = below
        return parts

    def fields(self, parts: Sequence[SchemaPart]) -> Iterator[Offer]:
        """The names of fields that a mapping with these parts may have."""
        seen: set[str] = set()
        closed = [part for part in parts if _is_closed(part)]
        # What a closed part says of a field is meant for just this kind of mapping.
        for part in sorted(parts, key=lambda each: not _is_closed(each)):
            for name, inner in part.get("properties", {}).items():
                is_open = all(name in each["properties"] for each in closed)
                if name not in seen and inner is not False and is_open:
                    seen.add(name)
                    yield Offer(name, self.about([inner]), self._types(inner))

    def values(self, parts: Sequence[SchemaPart]) -> Iterator[Offer]:
        """The values that are listed, or given as examples, as far as they can stand there."""
        seen: list[JSON] = []
        for offer in self._listed(parts):
            whole = parts[0] if parts else {}
            if offer.name not in seen and self._fits(whole, offer.name):
                seen.append(offer.name)
                yield offer

    def _listed(self, parts: Iterable[SchemaPart]) -> Iterator[Offer]:
        for part in parts:
            about = str(part.get("description", ""))
            for value in part.get("enum", [part["const"]] if "const" in part else []):
                yield Offer(value, about)
            kinds = part.get("type")
            if kinds == "boolean" or (isinstance(kinds, list) and "boolean" in kinds):
                yield Offer(True, about)
                yield Offer(False, about)
            for value in part.get("examples", ()):
                yield Offer(value, about)

    def about(self, parts: Iterable[Any]) -> str:
        """The first sentence that is said of a part, or of what it refers to."""
        for each in parts:
            part = each
            while isinstance(part, dict):
                if "description" in part:
                    return str(part["description"])
                part = self.find(part["$ref"]) if "$ref" in part else None
        return ""

    def about_field(self, parts: Iterable[SchemaPart], name: str) -> str:
        """What is said of a field of a mapping with these parts."""
        return self.about(self._below(parts, name))

    def _types(self, part: Any) -> tuple[str, ...]:  # noqa: ANN401
        while isinstance(part, dict):
            kinds = part.get("type")
            if kinds is not None:
                return (kinds,) if isinstance(kinds, str) else tuple(kinds)
            part = self.find(part["$ref"]) if "$ref" in part else None
        return ()

    def _fits(self, part: SchemaPart, value: JSON) -> bool:
        """Whether a part of the schema accepts a value."""
        if id(part) not in self._validators:
            whole = {**part, "$defs": self._root.get("$defs", {})}
            self._validators[id(part)] = Draft202012Validator(whole)
        return self._validators[id(part)].is_valid(value)

    def _below(self, parts: Iterable[SchemaPart], step: str | int) -> Iterator[Any]:
        """What parts of a mapping or a list say of one step into it."""
        for part in parts:
            if isinstance(step, int):
                if "items" in part:
                    yield part["items"]
                continue
            named = step in part.get("properties", {})
            if named:
                yield part["properties"][step]
            for pattern, inner in part.get("patternProperties", {}).items():
                if re.search(pattern, step):
                    named = True
                    yield inner
            if not named and not _is_closed(part) and "additionalProperties" in part:
                yield part["additionalProperties"]

    def _spread(self, parts: Iterable[Any], value: JSON) -> Iterator[SchemaPart]:
        """Each part, and whatever of what it is made of holds for the value."""
        for part in parts:
            if not isinstance(part, dict):
                continue
            yield part
            if "$ref" in part:
                yield from self._spread([self.find(part["$ref"])], value)
            yield from self._spread(part.get("allOf", ()), value)
            yield from self._spread(part.get("anyOf", ()), value)
            if "if" in part:
                branch = "then" if self._fits(part["if"], value) else "else"
                yield from self._spread([part.get(branch)], value)


def _is_closed(part: SchemaPart) -> bool:
    """Whether a mapping takes no other fields than those that are listed."""
    others = part.get("additionalProperties")
    return others is False or (isinstance(others, dict) and "const" in others)


@cache
def walk_of(kind: str, *, is_line: bool) -> SchemaWalk:
    """The schema of a kind of files; `is_line` means that of a line of JSONL."""
    if kind == "sidecar":
        return SchemaWalk(sidecar_schema())
    schema = suite_schema()
    return SchemaWalk({"$ref": "#/$defs/case", "$defs": schema["$defs"]} if is_line else schema)
