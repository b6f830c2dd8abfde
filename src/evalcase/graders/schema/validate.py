"""A value held to a schema that has no faults: every error, each with its place in the value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from evalcase.errors import EvalcaseError
from evalcase.graders.compare.excerpt import count, quote
from evalcase.graders.compare.json_difference import Difference, step_text
from evalcase.graders.schema.references import find_schema
from evalcase.graders.schema.rules import RULES
from evalcase.model.json_value import JSON
from evalcase.system.patterns.search import Search
from evalcase.system.patterns.searches import Searches

_DEEPEST = 300


class Validator:
    """Holds values to one schema."""

    def __init__(self, root: JSON, searches: Searches) -> None:
        self._root = root
        self._searches = searches

    def errors(self, value: JSON) -> Iterator[Difference]:
        return self._errors(self._root, value, "$", 0)

    def _errors(self, schema: JSON, value: JSON, path: str, depth: int) -> Iterator[Difference]:
        if depth > _DEEPEST:
            raise EvalcaseError("the schema refers to itself without an end")
        if schema is False:
            yield Difference(path, f"nothing is allowed here, got {quote(value)}")
        if not isinstance(schema, dict):
            return
        for keyword, argument in schema.items():
            rule = RULES.get(keyword)
            if rule is not None:
                complaint = rule(argument, value)
                if complaint is not None:
                    yield Difference(path, complaint)
            elif keyword in self._APPLIED:
                yield from self._APPLIED[keyword](self, schema, value, path, depth + 1)

    def _is_valid(self, schema: JSON, value: JSON, depth: int) -> bool:
        return next(self._errors(schema, value, "$", depth), None) is None

    def _reference(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        yield from self._errors(find_schema(schema["$ref"], self._root), value, path, depth)

    def _pattern(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        del depth
        if isinstance(value, str) and not self._finds(schema["pattern"], value):
            yield Difference(path, f"{quote(value)} does not match `{schema['pattern']}`")

    def _finds(self, pattern: str, text: str) -> bool:
        return self._searches.find(Search(pattern, text)) is not None

    def _properties(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        if isinstance(value, dict):
            for name, inner in schema["properties"].items():
                if name in value:
                    yield from self._errors(inner, value[name], path + step_text(name), depth)

    def _pattern_properties(
        self, schema: Any, value: JSON, path: str, depth: int  # noqa: ANN401
    ) -> Iterator[Difference]:  # fmt: skip
        for name, item in value.items() if isinstance(value, dict) else ():
            for pattern, inner in schema["patternProperties"].items():
                if self._finds(pattern, name):
                    yield from self._errors(inner, item, path + step_text(name), depth)

    def _additional(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        inner = schema["additionalProperties"]
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, item in value.items() if isinstance(value, dict) else ():
            if name in named or any(self._finds(pattern, name) for pattern in patterns):
                continue
            if inner is False:
                yield Difference(path + step_text(name), f"not allowed, got {quote(item)}")
            else:
                yield from self._errors(inner, item, path + step_text(name), depth)

    def _names(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        for name in value if isinstance(value, dict) else ():
            for error in self._errors(schema["propertyNames"], name, path, depth):
                yield Difference(path, f"the name {quote(name)}: {error.what}")

    def _dependents(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        for name, inner in schema["dependentSchemas"].items():
            if isinstance(value, dict) and name in value:
                yield from self._errors(inner, value, path, depth)

    def _prefix(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        if isinstance(value, list):
            pairs = zip(schema["prefixItems"], value, strict=False)
            for number, (inner, item) in enumerate(pairs):
                yield from self._errors(inner, item, f"{path}[{number}]", depth)

    def _items(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        start = len(schema.get("prefixItems", ()))
        for number, item in enumerate(value[start:], start) if isinstance(value, list) else ():
            yield from self._errors(schema["items"], item, f"{path}[{number}]", depth)

    def _contains(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        if not isinstance(value, list):
            return
        fitting = sum(self._is_valid(schema["contains"], item, depth) for item in value)
        least, most = schema.get("minContains", 1), schema.get("maxContains")
        if fitting < least:
            needed = f"at least {least:g} are needed"
            yield Difference(path, f"{count(fitting, 'item')} fit `contains`, and {needed}")
        if most is not None and fitting > most:
            allowed = f"at most {most:g} are allowed"
            yield Difference(path, f"{count(fitting, 'item')} fit `contains`, and {allowed}")

    def _all_of(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        for inner in schema["allOf"]:
            yield from self._errors(inner, value, path, depth)

    def _any_of(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        yield from self._none_of(schema["anyOf"], value, path, depth)

    def _one_of(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        fitting = [
            n for n, each in enumerate(schema["oneOf"]) if self._is_valid(each, value, depth)
        ]
        if len(fitting) > 1:
            listed = ", ".join(str(number + 1) for number in fitting)
            yield Difference(path, f"fits more than one of `oneOf`: {listed}")
        elif not fitting:
            yield from self._none_of(schema["oneOf"], value, path, depth)

    def _none_of(
        self, choices: list[JSON], value: JSON, path: str, depth: int
    ) -> Iterator[Difference]:
        """One error if a value fits none of some schemas: what is wrong by the nearest of them."""
        found = [list(self._errors(each, value, path, depth)) for each in choices]
        if not all(found):
            return
        nearest = min(
            range(len(found)),
            key=lambda number: (_is_of_other_type(choices[number], value), len(found[number])),
        )
        said = "; ".join(map(str, found[nearest][:3]))
        yield Difference(
            path, f"fits none of {len(found)} choices; by choice {nearest + 1}: {said}"
        )

    def _not(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        if self._is_valid(schema["not"], value, depth):
            yield Difference(path, f"{quote(value)} fits what `not` forbids")

    def _if(self, schema: Any, value: JSON, path: str, depth: int) -> Iterator[Difference]:  # noqa: ANN401
        branch = "then" if self._is_valid(schema["if"], value, depth) else "else"
        if branch in schema:
            yield from self._errors(schema[branch], value, path, depth)

    _APPLIED: ClassVar[dict[str, Callable[..., Iterator[Difference]]]] = {
        "$ref": _reference,
        "pattern": _pattern,
        "properties": _properties,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional,
        "propertyNames": _names,
        "dependentSchemas": _dependents,
        "prefixItems": _prefix,
        "items": _items,
        "contains": _contains,
        "allOf": _all_of,
        "anyOf": _any_of,
        "oneOf": _one_of,
        "not": _not,
        "if": _if,
    }


def _is_of_other_type(schema: JSON, value: JSON) -> bool:
    """Whether a choice is wrong about the whole value, and so further off than others."""
    wanted = schema.get("type") if isinstance(schema, dict) else None
    return wanted is not None and RULES["type"](wanted, value) is not None
