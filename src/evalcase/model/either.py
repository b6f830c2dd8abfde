"""The schema of a value that has any of some shapes, so that editors say which was meant."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.model.json_value import JSON

Schema = dict[str, JSON]


def unite_schemas(schemas: Sequence[Schema]) -> Schema:
    """One of these. Where each is of a type of its own, what is wrong is said of the one that the
    value was meant to be; behind an `anyOf`, editors can only say that nothing fits."""
    kinds = [schema.get("type") for schema in schemas]
    if not all(isinstance(kind, str) for kind in kinds) or len({*map(str, kinds)}) < len(kinds):
        return {"anyOf": list(schemas)}
    rules: list[JSON] = [
        {"if": {"type": schema["type"]}, "then": schema} for schema in schemas if len(schema) > 1
    ]
    return {"type": kinds, "allOf": rules} if rules else {"type": kinds}
