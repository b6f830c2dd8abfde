"""Graders of the answer's JSON: `json`, `json_schema` and `json_equals`."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from itertools import islice
from typing import Annotated, Any, Literal, NoReturn

from msgspec import UNSET, UnsetType

from evalcase.errors import ConfigError
from evalcase.graders.base import CONTENT, NEITHER, Context, Grader, Half
from evalcase.graders.differences import (
    NOTHING,
    Difference,
    Lenience,
    Way,
    compare_values,
    expected_content,
    expected_value,
    list_differences,
    write_way,
)
from evalcase.graders.text import Searcher, settle
from evalcase.types.grade import Score
from evalcase.types.options import (
    Amount,
    JsonPaths,
    Place,
    Text,
    about,
    object_to_pattern,
    of_kind,
    path_steps,
)
from evalcase.types.problem import Finding, KeyPath, did_you_mean
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON, describe_kind
from evalcase.util.answers import describe_instead, parse_answer, text_of_content, value_of_answer
from evalcase.util.files import digest_file, read_file
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.text import shorten_text, write_count


def graded_value(context: Context) -> JSON:
    """The JSON of the answer, or the part that a `path` leads to. BadJsonError, where there is
    none, is left to the caller of graders: the answer then fails."""
    return value_of_answer(context.answer) if context.part is None else context.part.value


class JsonGrader(Grader):
    name = "json"
    description = "The answer is valid JSON, alone or in one fenced code block."
    reads = "either"
    example = "- json"

    strict: Annotated[bool, about("Whether a fence around the JSON is a failure.")] = False

    def grade(self, context: Context) -> Score:
        content = context.answer.content if context.part is None else context.part.value
        if content is None and context.part is None:
            reason = f"the answer has no content{describe_instead(context.answer.last)}"
            return Score(0.0, reason, passed=False, stands=True)
        text = text_of_content(content)
        if text is not None and not text.strip():
            return Score(0.0, "there is an empty text", passed=False, stands=True)
        if text is not None:
            try:
                content = (parse_json if self.strict else parse_answer)(text)
            except BadJsonError as error:
                is_fenced = self.strict and text.lstrip()[:3] in ("```", "~~~")
                fence = " (a fence is not allowed by `strict`)" if is_fenced else ""
                return Score(0.0, f"it is not JSON: {error}{fence}")
        size = f" of {len(content)}" if isinstance(content, dict | list) else ""
        return Score(1.0, f"it is JSON: {describe_kind(content)}{size}")


# json_schema

_LARGEST_FILE = 10_000_000
_MOST_ERRORS, _LONGEST_ERROR = 1000, 200

_DATA = ("enum", "const", "default", "examples")
"""The value of these keywords is data; of others it may be a schema, or a list of them."""
_MAPPINGS = (
    "properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies",
)  # fmt: skip
_SINCE: dict[int, tuple[str, ...]] = {
    4: (
        "$schema", "$ref", "title", "description", "default", "type", "enum", "multipleOf",
        "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
        "pattern", "items", "maxItems", "minItems", "uniqueItems", "maxProperties",
        "minProperties", "required", "properties", "patternProperties", "additionalProperties",
        "dependencies", "allOf", "anyOf", "oneOf", "not", "definitions", "format",
    ),
    6: ("$id", "const", "contains", "propertyNames", "examples"),
    7: ("if", "then", "else", "$comment", "readOnly", "writeOnly"),
    2019: (
        "$anchor", "$defs", "$vocabulary", "deprecated", "dependentRequired", "dependentSchemas",
        "maxContains", "minContains", "unevaluatedItems", "unevaluatedProperties",
    ),
    2020: ("prefixItems", "$dynamicRef", "$dynamicAnchor"),
}  # fmt: skip
"""Keywords that a draft of JSON Schema has added."""
_ONLY_IN = {
    "id": (4,),
    "additionalItems": (4, 6, 7, 2019),
    "contentEncoding": (6, 7),
    "contentMediaType": (6, 7),
    "$recursiveRef": (2019,),
    "$recursiveAnchor": (2019,),
}
_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_DRAFTS = {
    **{f"https://json-schema.org/draft-0{number}/schema": number for number in (4, 6, 7)},
    "https://json-schema.org/draft/2019-09/schema": 2019,
    _NEWEST: 2020,
}
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_BESIDE = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
"""Keywords that check nothing unless another one stands beside them."""


def _make_validator(schema: Any, *, formats: bool = True) -> Any:  # noqa: ANN401 - jsonschema_rs has no common class
    """A validator by the draft that `$schema` names, or 2020-12. Raise ValueError if there is
    none."""
    import jsonschema_rs  # large, and only this grader needs it

    return jsonschema_rs.validator_for(
        schema, validate_formats=formats, ignore_unknown_formats=False, retriever=_refuse_address,
        # Patterns are searched in linear time, so no answer can make them hang.
        pattern_options=jsonschema_rs.RegexOptions(),
    )  # fmt: skip


def _refuse_address(address: str) -> NoReturn:
    raise ValueError(f"nothing is fetched, also not {address}")


def _check_schema(value: JSON, place: Place) -> Iterator[Finding]:
    """What is wrong with a JSON Schema, in an option or in a file."""
    if not isinstance(value, dict | bool):
        is_file = isinstance(value, str) and value.lower().endswith(".json")
        hint = f"write {{type: json_schema, file: {value:.80}}}" if is_file else None
        yield place.fault(f"is a JSON Schema, not {describe_kind(value)}", hint, code="wrong-type")
        return
    named = value.get("$schema", _NEWEST) if isinstance(value, dict) else _NEWEST
    draft = _DRAFTS.get(str(named).rstrip("#").replace("http:", "https:"))
    if draft is None:
        what = f"`$schema` names no draft of JSON Schema that is known: {named!s:.80}"
        yield Finding((*place.path, "$schema"), what, f"leave it out, or write {_NEWEST}")
        return
    faults = list(_walk_schema(value, place.path, draft))
    yield from faults
    try:
        of_schemas = _make_validator({"$schema": named, "$ref": named}, formats=False)
        by_path = {tuple(each.instance_path): each for each in of_schemas.iter_errors(value)}
        yield from [_tell_invalid(error, value, place) for error in by_path.values()]
        if not by_path:
            _make_validator(value)
    except ValueError as error:
        if not faults:
            yield _tell_invalid(error, value, place)


def _walk_schema(schema: JSON, path: KeyPath, draft: int) -> Iterator[Finding]:
    """Keywords that would check nothing."""
    if not isinstance(schema, dict):
        return
    known = [key for since, keys in _SINCE.items() if since <= draft for key in keys]
    known += [key for key, drafts in _ONLY_IN.items() if draft in drafts]
    for keyword, value in schema.items():
        where = (*path, keyword)
        if keyword not in known:
            yield _tell_unknown(keyword, where, known)
        elif _BESIDE.get(keyword, keyword) not in schema:
            what = f"`{keyword}` checks nothing without `{_BESIDE[keyword]}` beside it"
            yield Finding(where, what, at="key")
        elif "$ref" in schema and draft <= 7 and "def" not in keyword and keyword[0] != "$":
            what = f"`{keyword}` checks nothing beside `$ref` in draft {draft}"
            yield Finding(where, what, "put both into `allOf`", at="key")
        inside: Iterable[tuple[str | int, JSON]] = ()
        if keyword in _MAPPINGS and isinstance(value, dict):
            inside = value.items()
        elif isinstance(value, list) and keyword not in _DATA:
            inside = enumerate(value)
        elif keyword not in _DATA:
            yield from _walk_schema(value, where, draft)
        for step, inner in inside:
            yield from _walk_schema(inner, (*where, step), draft)


def _tell_unknown(keyword: str, where: KeyPath, known: list[str]) -> Finding:
    if keyword in ("file", "path", "value", "weight", "threshold"):
        hint = f"a mapping is the schema; for the option write {{type: json_schema, {keyword}: …}}"
    else:
        hint = did_you_mean(keyword, known) or "no answer would be checked by it"
    what = f"the keyword `{keyword:.60}` of the schema is not known"
    return Finding(where, what, hint, at="key", code="unknown-option")


def _tell_invalid(error: ValueError, schema: JSON, place: Place) -> Finding:
    why = _shorten(str(getattr(error, "message", error)))
    path = tuple(getattr(error, "instance_path", ()))
    value: Any = schema
    with suppress(LookupError, TypeError):  # the path of a keyword that is missing
        for key in path:
            value = value[key]
    label = f"`{'.'.join(map(str, path))}`" if path else ""
    if why.endswith('is not a "regex"') and isinstance(value, str):
        cause = object_to_pattern(value) or "look-around and back references are not supported"
        what = f"{label} is not a pattern: {cause}"
    elif path[-1:] == ("type",):
        what = f"{label} is one of {', '.join(_TYPES)}, or a list of them, not {value!r:.40}"
    elif path[-1:] == ("format",):
        what = f"{label} is not a format that is known: {value!r:.40}"
    else:
        what = f"it is not a JSON Schema: {label}{': ' if label else ''}{why}"
    return Finding((*place.path, *path), what)


def _shorten(message: str) -> str:
    return shorten_text(message.partition("\n")[0], _LONGEST_ERROR)


JsonSchema = Annotated[
    JSON, of_kind("a JSON Schema", check=_check_schema, schema={"type": ["object", "boolean"]})
]
SchemaFile = Annotated[Text, of_kind("the path of a file", names="file", holds=_check_schema)]


class JsonSchemaGrader(Grader):
    name = "json_schema"
    description = "The answer, as JSON, is valid against a JSON Schema."
    argument = "value"
    needs = ("value", "file")
    reads = "value"
    example = "- json_schema: {type: object, required: [riskLevel]}"

    value: Annotated[JsonSchema | None, about("The schema.", elsewhere=("schema",))] = None
    file: Annotated[
        SchemaFile | None, about("A JSON file with the schema, instead of `value`.")
    ] = None

    read: JSON = None
    """The schema of the file, once it is read."""
    path: str = ""

    def conflicts(self) -> Iterator[Finding]:
        yield from super().conflicts()
        if self.value is not None and self.file is not None:
            yield Finding(("file",), "`file` replaces `value`: use only one of them")

    def load(self, surroundings: Surroundings) -> None:
        if self.file is not None:
            self.path = os.path.join(surroundings.root, self.file)
            self.read = _read_schema(self.file, self.path, surroundings.root)

    def sources(self) -> dict[str, str]:
        return {self.file: digest_file(self.path)} if self.file and self.path else {}

    @cached_property
    def validator(self) -> Any:  # noqa: ANN401 - jsonschema_rs has no common class
        return _make_validator(self.value if self.file is None else self.read)

    def grade(self, context: Context) -> Score:
        found = self.validator.iter_errors(graded_value(context))
        errors = [
            Difference(write_way(tuple(each.instance_path)), _tell_error(each))
            for each in islice(found, _MOST_ERRORS)
        ]
        if not errors:
            return Score(1.0, "it matches the schema")
        told: list[JSON] = [{"path": each.path, "error": each.what} for each in errors[:100]]
        more = " or more" if len(errors) == _MOST_ERRORS else ""
        counted = f"{write_count(len(errors), 'schema error')}{more}"
        return Score(0.0, f"{counted}: {list_differences(errors).text}", {"errors": told})


def _tell_error(error: Any) -> str:  # noqa: ANN401 - jsonschema_rs has no class for all kinds
    """Why a value is not valid; where it fits none of several schemas, by the nearest of them."""
    choices = getattr(error.kind, "context", None)
    if not choices or not all(choices) or error.kind.name not in ("anyOf", "oneOf"):
        return _shorten(error.message)
    # A value of another type is further off than one with other faults.
    nearest = min(choices, key=lambda faults: any(each.kind.name == "type" for each in faults))
    return f"it fits none of {len(choices)} choices; by the nearest: {_shorten(nearest[0].message)}"


def _read_schema(name: str, path: str, root: str) -> JSON:
    try:
        schema = parse_json(read_file(path, _LARGEST_FILE, inside=root))
    except OSError as error:
        raise ConfigError(f"grader `json_schema`: {name}: {error.strerror}") from None
    except BadJsonError as error:
        raise ConfigError(f"grader `json_schema`: {name} is not JSON: {error}") from None
    faults = [
        f"{name}: {'.'.join(map(str, each.path[1:])) or 'the top'}: {each.message}"
        for each in _check_schema(schema, Place(("schema",)))
    ]
    if faults:
        raise ConfigError(f"grader `json_schema`: {'; '.join(faults)}")
    return schema


# json_equals

_SMALL = 500
"""Characters of a value that can be compared in any order in a few milliseconds."""


class JsonEqualsGrader(Grader):
    name = "json_equals"
    description = "The answer, as JSON, equals a value, or `expected_output`."
    argument = "value"
    reads = "value"
    example = "- {type: json_equals, value: {total: 10, id: 1}, ignore: [id], within: 0.01}"

    value: Annotated[JSON | UnsetType, about("The value; by default, `expected_output`.")] = UNSET
    ignore: Annotated[JsonPaths, about("Paths to leave out.", elsewhere=("ignore_paths",))] = ()
    unordered: Annotated[
        bool | JsonPaths,
        about("Ignore the order of lists, or of those at paths.", elsewhere=("ignore_order",)),
    ] = False
    extra: Annotated[
        Literal["forbid", "allow"],
        about("Whether mappings may have other keys.", elsewhere=("allow_extra",)),
    ] = "forbid"
    within: Annotated[Amount, about("How far apart numbers may be.", elsewhere=("tolerance",))] = (
        0.0
    )

    def conflicts(self) -> Iterator[Finding]:
        for number, path in enumerate(self.ignore):
            if tuple(path_steps(path)) in ((), ("*",)):
                what = f"`ignore` leaves nothing to compare: `{path}` is everywhere"
                yield Finding(("ignore", number), what, "name what doesn't matter")

    def compares(self) -> frozenset[Half]:
        return CONTENT if self.value is UNSET else NEITHER

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        if isinstance(self.value, UnsetType):
            if expected_content(context.case) is None:
                return NOTHING
            expected = expected_value(context.case)
        else:
            expected = self.value
        got = graded_value(context)
        takes_long = bool(self.unordered) and len(str(got)) > _SMALL
        return settle(partial(self._compare, expected, got), takes_long=takes_long)

    def _compare(self, expected: JSON, got: JSON, searcher: Searcher) -> Score:
        unordered = self.unordered
        lenience = Lenience(
            _read_ways(self.ignore),
            unordered if isinstance(unordered, bool) else _read_ways(unordered),
            extra=self.extra == "allow", within=self.within,
            is_given_up=searcher.is_given_up,
        )  # fmt: skip
        return compare_values(expected, got, lenience)


def _read_ways(paths: tuple[str, ...]) -> tuple[Way, ...]:
    return tuple(tuple(path_steps(path)) for path in paths)
