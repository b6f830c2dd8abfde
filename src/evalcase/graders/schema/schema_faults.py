"""What is wrong with a schema, all of it, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.graders.schema.keywords import ELSEWHERE, KNOWN, NAMED, ONE, PLAIN_KEYWORDS, SEVERAL
from evalcase.graders.schema.references import RemoteError, find_schema
from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.nearest import did_you_mean
from evalcase.model.shape import OptionFault

EXTRA = "the extra `schema` of evalcase knows it: install jsonschema-rs"


def schema_faults(schema: JSON, path: KeyPath, root: JSON) -> Iterator[OptionFault]:
    """Everything that keeps a schema from being used. References lead into `root`."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield OptionFault(
            path, f"a schema is a mapping, true or false, not {describe_kind(schema)}"
        )
        return
    for keyword, value in schema.items():
        where = (*path, keyword)
        if keyword not in KNOWN:
            yield _unknown(keyword, where)
        elif keyword in PLAIN_KEYWORDS:
            for fault in PLAIN_KEYWORDS[keyword](value):
                below = ".".join(map(str, (keyword, *fault.below)))
                yield OptionFault((*where, *fault.below), f"`{below}` {fault.what}")
        elif keyword == "$ref":
            yield from _faults_of_reference(value, where, root)
        else:
            yield from _faults_inside(keyword, value, where, root)


def _faults_inside(keyword: str, value: JSON, where: KeyPath, root: JSON) -> Iterator[OptionFault]:
    if keyword in ONE:
        yield from schema_faults(value, where, root)
    elif keyword in SEVERAL:
        if not isinstance(value, list) or not value:
            yield OptionFault(where, f"`{keyword}` is a list of schemas")
            return
        for number, each in enumerate(value):
            yield from schema_faults(each, (*where, number), root)
    elif keyword in NAMED:
        if not isinstance(value, dict):
            yield OptionFault(where, f"`{keyword}` is a mapping of schemas")
            return
        for name, each in value.items():
            if keyword == "patternProperties":
                for fault in PLAIN_KEYWORDS["pattern"](name):
                    yield OptionFault((*where, name), f"`{name:.60}` {fault.what}", at="key")
            yield from schema_faults(each, (*where, name), root)


def _faults_of_reference(value: JSON, where: KeyPath, root: JSON) -> Iterator[OptionFault]:
    if not isinstance(value, str):
        yield OptionFault(where, "`$ref` is text, such as #/$defs/name")
        return
    try:
        find_schema(value, root)
    except RemoteError:
        what = f"`$ref` leads out of the schema, and nothing is fetched: {value:.80}"
        yield OptionFault(where, what, "copy what it refers to into `$defs`")
    except LookupError:
        yield OptionFault(where, f"`$ref` leads nowhere: {value:.80}")


def _unknown(keyword: str, where: KeyPath) -> OptionFault:
    if keyword in ELSEWHERE:
        hint = EXTRA
    elif keyword in ("file", "path", "value", "weight", "threshold"):
        hint = f"a mapping is the schema; for the option write {{type: json_schema, {keyword}: …}}"
    else:
        hint = did_you_mean(keyword, KNOWN) or "JSON Schema 2020-12 has no such keyword"
    what = f"the keyword `{keyword:.60}` of the schema is not known"
    return OptionFault(where, what, hint, at="key", code="unknown-option")


def needs_extra(schema: JSON) -> bool:
    """Whether a schema has keywords that only the extra knows."""
    if isinstance(schema, list):
        return any(needs_extra(each) for each in schema)
    if not isinstance(schema, dict):
        return False
    inside = [value for key, value in schema.items() if key not in ("enum", "const", "examples")]
    return not schema.keys().isdisjoint(ELSEWHERE) or any(needs_extra(each) for each in inside)
