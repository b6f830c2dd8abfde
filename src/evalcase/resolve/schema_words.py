"""The words that the JSON Schema is written in: small pieces that all of its parts use.

Only keywords of the standard are used: an editor's own ones make strict validators refuse the whole
schema. So a rule is written in the way that makes editors say something useful by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Schema = dict[str, object]

NOT_NULL: Schema = {"not": {"type": "null"}}


def ref(name: str, **more: object) -> Schema:
    """A reference to a named part; only annotations may stand beside it."""
    return {"$ref": f"#/$defs/{name}", **more}


def present(name: str) -> Schema:
    """Matches a mapping that has the field; null counts as absent."""
    return {"required": [name], "patternProperties": {pattern_of([name]): NOT_NULL}}


def absent(name: str) -> Schema:
    return {"not": present(name)}


def not_both(first: str, second: str) -> Schema:
    """Where both are there, the second is not allowed: it is what gets underlined."""
    both: Schema = {"allOf": [present(first), present(second)]}
    return {"if": both, "then": {"properties": {second: False}}}


def optional(kind: str | list[str], description: str, **more: object) -> Schema:
    """A field that may be left out, for which null says the same."""
    kinds = [kind] if isinstance(kind, str) else kind
    return {"type": [*kinds, "null"], "description": description, **more}


def mapping(properties: Mapping[str, object]) -> Schema:
    """A mapping with these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "propertyNames": {"enum": list(properties)},
    }


def pattern_of(names: Iterable[str]) -> str:
    """Matches exactly these names. What stands behind a pattern is not offered by editors."""
    return f"^(?:{'|'.join(names)})$"


def weight() -> Schema:
    return optional("number", "How much this counts in the weighted mean.", minimum=0)


def must_pass() -> Schema:
    return optional("boolean", "Whether this must pass whatever the weighted mean is.")
