"""A value held to a schema that has no faults: every error, each with its place in the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar

from evalcase.errors import EvalcaseError
from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.json_difference import Difference, step_text
from evalcase.graders.compare.patterns import Searcher
from evalcase.graders.schema.references import find_schema
from evalcase.graders.schema.rules import RULES
from evalcase.types.value import JSON
from evalcase.util.text import write_count

MOST_ERRORS = 1_000
"""How many errors are listed of a value, or of a part of it."""

_LONGEST = 1_000
"""How many characters are said of a choice that doesn't fit: choices may hold choices."""
_DOLLARS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", re.DOTALL)
_Key = tuple[int, int, str]
"""A schema and a value, by their identity, and the place of the value."""


class Validator:
    """Holds one value to a schema, with all that the schema refers to.

    What a part of the schema says of a part of the value is found once: schemas that refer to
    themselves by several ways would else take twice as long for every level of the value.
    """

    def __init__(self, root: JSON, searcher: Searcher) -> None:
        self._root = root
        self._searcher = searcher
        self._known: dict[_Key, Sequence[Difference] | None] = {}
        """None for what is under way."""
        self._references: dict[str, JSON] = {}

    def errors(self, value: JSON) -> Sequence[Difference]:
        """Every error, but no more than a person can use. Raise InterruptedError once nobody waits
        for them any more."""
        try:
            return self._errors(self._root, value, "$")
        except RecursionError:
            raise EvalcaseError("the answer is nested too deep to be held to the schema") from None

    def _errors(self, schema: JSON, value: JSON, path: str) -> Sequence[Difference]:
        if schema is False:
            return (Difference(path, f"nothing is allowed here, got {quote_value(value)}"),)
        if not isinstance(schema, dict):
            return ()
        if self._APPLIED.keys().isdisjoint(schema):
            return tuple(_errors_by_rules(schema, value, path))
        key = id(schema), id(value), path
        known = self._known.get(key, ())
        if known is None:
            raise EvalcaseError("the schema refers to itself without an end")
        if known or key in self._known:
            return known
        if self._searcher.is_given_up():
            raise InterruptedError
        self._known[key] = None
        # The same may be said twice, by parts of the schema that refer to the same.
        found = dict.fromkeys(_errors_by_rules(schema, value, path))
        for keyword in [each for each in schema if each in self._APPLIED]:
            for error in self._APPLIED[keyword](self, schema, value, path):
                found[error] = None
        self._known[key] = errors = tuple(islice(found, MOST_ERRORS))
        return errors

    def _is_valid(self, schema: JSON, value: JSON, path: str) -> bool:
        return not self._errors(schema, value, path)

    def _reference(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        reference = schema["$ref"]
        if reference not in self._references:
            self._references[reference] = find_schema(reference, self._root)
        yield from self._errors(self._references[reference], value, path)

    def _pattern(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        if isinstance(value, str) and not self._finds(schema["pattern"], value):
            yield Difference(path, f"{quote_value(value)} does not match `{schema['pattern']}`")

    def _finds(self, pattern: str, text: str) -> bool:
        if text.endswith("\n"):
            pattern = _end_strictly(pattern)
        return self._searcher.find(pattern, text) is not None

    def _properties(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        if isinstance(value, dict):
            for name, inner in schema["properties"].items():
                if name in value:
                    yield from self._errors(inner, value[name], path + step_text(name))

    def _pattern_properties(
        self, schema: Any, value: JSON, path: str  # noqa: ANN401
    ) -> Iterator[Difference]:  # fmt: skip
        for name, item in value.items() if isinstance(value, dict) else ():
            for pattern, inner in schema["patternProperties"].items():
                if self._finds(pattern, name):
                    yield from self._errors(inner, item, path + step_text(name))

    def _additional(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        inner = schema["additionalProperties"]
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, item in value.items() if isinstance(value, dict) else ():
            if name in named or any(self._finds(pattern, name) for pattern in patterns):
                continue
            if inner is False:
                yield Difference(path + step_text(name), f"not allowed, got {quote_value(item)}")
            else:
                yield from self._errors(inner, item, path + step_text(name))

    def _names(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        for name in value if isinstance(value, dict) else ():
            for error in self._errors(schema["propertyNames"], name, path):
                yield Difference(path, f"the name {quote_value(name)}: {error.what}")

    def _dependents(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        for name, inner in schema["dependentSchemas"].items():
            if isinstance(value, dict) and name in value:
                yield from self._errors(inner, value, path)

    def _prefix(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        if isinstance(value, list):
            pairs = zip(schema["prefixItems"], value, strict=False)
            for number, (inner, item) in enumerate(pairs):
                yield from self._errors(inner, item, f"{path}[{number}]")

    def _items(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        start = len(schema.get("prefixItems", ()))
        for number, item in enumerate(value[start:], start) if isinstance(value, list) else ():
            yield from self._errors(schema["items"], item, f"{path}[{number}]")

    def _contains(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        if not isinstance(value, list):
            return
        fitting = sum(
            self._is_valid(schema["contains"], item, f"{path}[{number}]")
            for number, item in enumerate(value)
        )
        least, most = schema.get("minContains", 1), schema.get("maxContains")
        if fitting < least:
            needed = f"at least {least:g} are needed"
            yield Difference(path, f"{write_count(fitting, 'item')} fit `contains`, and {needed}")
        if most is not None and fitting > most:
            allowed = f"at most {most:g} are allowed"
            yield Difference(path, f"{write_count(fitting, 'item')} fit `contains`, and {allowed}")

    def _all_of(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        for inner in schema["allOf"]:
            yield from self._errors(inner, value, path)

    def _any_of(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        yield from self._none_of(schema["anyOf"], value, path)

    def _one_of(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        fitting = [n for n, each in enumerate(schema["oneOf"]) if self._is_valid(each, value, path)]
        if len(fitting) > 1:
            listed = ", ".join(str(number + 1) for number in fitting)
            yield Difference(path, f"fits more than one of `oneOf`: {listed}")
        elif not fitting:
            yield from self._none_of(schema["oneOf"], value, path)

    def _none_of(self, choices: list[JSON], value: JSON, path: str) -> Iterator[Difference]:
        """One error if a value fits none of some schemas: what is wrong by the nearest of them."""
        found = [self._errors(each, value, path) for each in choices]
        if not all(found):
            return
        nearest = min(
            range(len(found)),
            key=lambda number: (_is_of_other_type(choices[number], value), len(found[number])),
        )
        said = "; ".join(map(str, found[nearest][:3]))
        said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
        yield Difference(
            path, f"fits none of {len(found)} choices; by choice {nearest + 1}: {said}"
        )

    def _not(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        if self._is_valid(schema["not"], value, path):
            yield Difference(path, f"{quote_value(value)} fits what `not` forbids")

    def _if(self, schema: Any, value: JSON, path: str) -> Iterator[Difference]:  # noqa: ANN401
        branch = "then" if self._is_valid(schema["if"], value, path) else "else"
        if branch in schema:
            yield from self._errors(schema[branch], value, path)

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


def _end_strictly(pattern: str) -> str:
    """A pattern whose `$` is the very end, as in JSON Schema; Python's also stands before a last
    line feed. Escapes and sets of characters stay as they are."""
    return _DOLLARS.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)


def _errors_by_rules(schema: dict[str, JSON], value: JSON, path: str) -> Iterator[Difference]:
    """What is wrong with a value by the keywords that look at nothing inside of it."""
    for keyword, argument in schema.items():
        rule = RULES.get(keyword)
        complaint = rule(argument, value) if rule is not None else None
        if complaint is not None:
            yield Difference(path, complaint)


def _is_of_other_type(schema: JSON, value: JSON) -> bool:
    """Whether a choice is wrong about the whole value, and so further off than others."""
    wanted = schema.get("type") if isinstance(schema, dict) else None
    return wanted is not None and RULES["type"](wanted, value) is not None
