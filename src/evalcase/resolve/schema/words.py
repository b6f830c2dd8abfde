"""The words that the JSON Schema is written in: small pieces that all of its parts use.

Only keywords of the standard are used: an editor's own ones make strict validators refuse the whole
schema. So a rule is written in the way that makes editors say something useful by themselves:

- A choice is an `if` rather than an `anyOf`: editors then underline the one place that is wrong.
- Only the schema of a field itself has words about it: those of an inner part would be shown in
  their place.
- What may be anything says so by `anyOf`: the name of a field of which no type is known is inserted
  without a colon.
- A condition on a field that people see has no `enum`: it would be shown as what is allowed there.
- No example is a mapping: it would be offered as `[object Object]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from evalcase.model.option import ANYTHING

SuiteSchema = dict[str, object]

NOT_NULL: SuiteSchema = {"not": {"type": "null"}}


def refer_to(name: str, **more: object) -> SuiteSchema:
    """A reference to a named part; only annotations may stand beside it."""
    return {"$ref": f"#/$defs/{name}", **more}


def refer_to_field(part: str, field: str) -> SuiteSchema:
    """A reference to what a part says of a field."""
    return refer_to(f"{part}/properties/{field.replace('~', '~0').replace('/', '~1')}")


def match_present(name: str) -> SuiteSchema:
    """Matches a mapping that has the field; null counts as absent."""
    return {"required": [name], "patternProperties": {pattern_of([name]): NOT_NULL}}


def match_absent(name: str) -> SuiteSchema:
    return {"not": match_present(name)}


def not_both(first: str, second: str) -> SuiteSchema:
    """Where both are there, the second is not allowed: it is what gets underlined."""
    both: SuiteSchema = {"allOf": [match_present(first), match_present(second)]}
    return {"if": both, "then": {"properties": {second: False}}}


def describe_optional(kind: str | list[str], description: str, **more: object) -> SuiteSchema:
    """A field that may be left out, for which null says the same."""
    kinds = [kind] if isinstance(kind, str) else kind
    return {"type": [*kinds, "null"], "description": description, **more}


def describe_anything(description: str, **more: object) -> SuiteSchema:
    """A field that may hold any value."""
    return {"description": description, "anyOf": list(ANYTHING), **more}


def describe_mapping(properties: Mapping[str, object]) -> SuiteSchema:
    """A mapping with these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "allOf": [limit_names({"enum": list(properties)})],
    }


def limit_names(names: SuiteSchema) -> SuiteSchema:
    """What the names of fields have to match; editors count the `<<` of YAML among them.

    It stands in an `allOf`: beside `type: object`, editors would offer the names a second time.
    """
    return {"propertyNames": {"if": {"const": "<<"}, "then": True, "else": names}}


def pattern_of(names: Iterable[str]) -> str:
    """Matches exactly these names. What stands behind a pattern is not offered by editors."""
    return f"^(?:{'|'.join(map(escape_name, names))})$"


def escape_name(name: str) -> str:
    """A name in a pattern, by the rules of JavaScript, which allow no needless backslash."""
    return re.sub(r"[\\^$.*+?()[\]{}|/]", r"\\\g<0>", name)


def describe_weight() -> SuiteSchema:
    about = "How much this counts in the weighted mean."
    return describe_optional("number", about, minimum=0, examples=[2])


def describe_must_pass() -> SuiteSchema:
    return describe_optional("boolean", "Whether this must pass, regardless of the weighted mean.")
