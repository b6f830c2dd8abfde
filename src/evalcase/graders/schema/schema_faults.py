"""What is wrong with a schema, all of it, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from evalcase.graders.schema.formats import FORMATS_ELSEWHERE
from evalcase.graders.schema.keywords import (
    BESIDE,
    ELSEWHERE,
    IDLE,
    KNOWN,
    NAMED,
    ONE,
    ONE_ELSEWHERE,
    PLAIN_KEYWORDS,
    SEVERAL,
)
from evalcase.graders.schema.references import RemoteError, find_schema
from evalcase.types.options import OptionFault
from evalcase.types.problem import KeyPath, did_you_mean
from evalcase.types.value import JSON, describe_kind

EXTRA = "the extra `schema` of evalcase knows it: install jsonschema-rs"


def schema_faults(schema: JSON, path: KeyPath, has_extra: bool = False) -> Iterator[OptionFault]:
    """Everything that keeps a schema from being used. With the extra, more keywords can be."""
    faults = _Faults(schema, has_extra)
    yield from faults.of_schema(schema, path)


def needs_extra(schema: JSON) -> bool:
    """Whether a schema has keywords or formats that only the extra knows."""
    return any(
        not each.keys().isdisjoint(ELSEWHERE) or each.get("format") in FORMATS_ELSEWHERE
        for each in _walk_schemas(schema, root=schema)
    )


class _Faults:
    """Finds the faults of one schema, whose references lead into itself."""

    def __init__(self, root: JSON, has_extra: bool) -> None:
        self._root = root
        self._has_extra = has_extra
        self._looked_at = {id(each) for each in _walk_schemas(root)}
        """Parts that are schemas by where they stand, and those that references led to."""

    def of_schema(self, schema: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            yield OptionFault(
                path, f"a schema is a mapping, true or false, not {describe_kind(schema)}"
            )
            return
        for keyword, value in schema.items():
            where = (*path, keyword)
            if BESIDE.get(keyword, keyword) not in schema:
                what = f"`{keyword}` checks nothing without `{BESIDE[keyword]}` beside it"
                yield OptionFault(where, what, at="key")
            elif keyword in KNOWN or (self._has_extra and keyword in ELSEWHERE):
                yield from self._of_keyword(keyword, value, where)
            else:
                yield _tell_unknown(keyword, where)

    def _of_keyword(self, keyword: str, value: JSON, where: KeyPath) -> Iterator[OptionFault]:
        if keyword in PLAIN_KEYWORDS:
            for fault in PLAIN_KEYWORDS[keyword](value):
                below = ".".join(map(str, (keyword, *fault.below)))
                yield OptionFault((*where, *fault.below), f"`{below}` {fault.what}")
            if keyword == "format" and value in FORMATS_ELSEWHERE and not self._has_extra:
                yield OptionFault(where, f"the format `{value}` is not known", EXTRA)
        elif keyword == "$ref":
            yield from self._of_reference(value, where)
        else:
            yield from self._of_inner(keyword, value, where)

    def _of_inner(self, keyword: str, value: JSON, where: KeyPath) -> Iterator[OptionFault]:
        if keyword in (*ONE, *ONE_ELSEWHERE):
            yield from self.of_schema(value, where)
        elif keyword in SEVERAL:
            if not isinstance(value, list) or not value:
                yield OptionFault(where, f"`{keyword}` is a list of schemas")
                return
            for number, each in enumerate(value):
                yield from self.of_schema(each, (*where, number))
        elif keyword in NAMED:
            if not isinstance(value, dict):
                yield OptionFault(where, f"`{keyword}` is a mapping of schemas")
                return
            for name, each in value.items():
                if keyword == "patternProperties":
                    for fault in PLAIN_KEYWORDS["pattern"](name):
                        yield OptionFault((*where, name), f"`{name:.60}` {fault.what}", at="key")
                yield from self.of_schema(each, (*where, name))

    def _of_reference(self, value: JSON, where: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str):
            yield OptionFault(where, "`$ref` is text, such as #/$defs/name")
            return
        try:
            found = find_schema(value, self._root)
        except RemoteError:
            what = f"`$ref` leads out of the schema, and nothing is fetched: {value:.80}"
            yield OptionFault(where, what, "copy what it refers to into `$defs`")
        except LookupError:
            yield OptionFault(where, f"`$ref` leads nowhere: {value:.80}")
        else:
            yield from self._of_referred(found, value, where)

    def _of_referred(self, found: JSON, name: str, where: KeyPath) -> Iterator[OptionFault]:
        """A part that stands where no schema is looked for must be one all the same."""
        if isinstance(found, bool) or id(found) in self._looked_at:
            return
        self._looked_at.add(id(found))
        for fault in self.of_schema(found, where):
            what = f"`$ref` leads to something that is not a schema, {name:.80}: {fault.message}"
            yield OptionFault(where, what, fault.hint)
            return


def _tell_unknown(keyword: str, where: KeyPath) -> OptionFault:
    if keyword in ELSEWHERE:
        hint = EXTRA
    elif keyword in IDLE:
        hint = IDLE[keyword]
    elif keyword in ("file", "path", "value", "weight", "threshold"):
        hint = f"a mapping is the schema; for the option write {{type: json_schema, {keyword}: …}}"
    else:
        hint = did_you_mean(keyword, KNOWN) or "JSON Schema 2020-12 has no such keyword"
    what = f"the keyword `{keyword:.60}` of the schema is not known"
    return OptionFault(where, what, hint, at="key", code="unknown-option")


def _walk_schemas(schema: JSON, root: JSON = None) -> Iterator[dict[str, JSON]]:
    """Every mapping that is a schema by where it stands, each once; with `root`, also those that
    references lead to."""
    waiting, seen = [schema], set[int]()
    while waiting:
        each = waiting.pop()
        if not isinstance(each, dict) or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        for keyword, value in each.items():
            if keyword in (*ONE, *ONE_ELSEWHERE):
                waiting.append(value)
            elif keyword in SEVERAL and isinstance(value, list):
                waiting += value
            elif keyword in NAMED and isinstance(value, dict):
                waiting += value.values()
            elif keyword == "$ref" and isinstance(value, str) and root is not None:
                with suppress(LookupError):
                    waiting.append(find_schema(value, root))
