"""The validator says the same as jsonschema: on the keywords that it knows, and any values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evalcase.errors import EvalcaseError
from evalcase.graders.compare.patterns import Searcher
from evalcase.graders.schema import with_extra
from evalcase.graders.schema.formats import FORMATS_ELSEWHERE
from evalcase.graders.schema.keywords import BESIDE, KNOWN, NOTES
from evalcase.graders.schema.schema_faults import needs_extra, schema_faults
from evalcase.graders.schema.validate import MOST_ERRORS, Validator
from tests.for_each import for_each

names = st.sampled_from(["a", "b", "ab", "c"])
scalars: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-3, 5) | st.sampled_from([0.5, 1.0, 1.5, 1e300])
    | st.sampled_from(["", "a", "ab", "abc", "é", "x-1"])
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
counts = st.integers(0, 3)
numbers = st.integers(-2, 4) | st.sampled_from([0.5, 2.0])
types = st.sampled_from(["string", "number", "integer", "boolean", "array", "object", "null"])
patterns = st.sampled_from(["^a", "b$", "^[a-z]+$", "(a|b)+", "x"])


def keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    named = st.dictionaries(names, inner, max_size=2)
    return {
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "enum": st.lists(values, min_size=1, max_size=3), "const": values,
        "required": st.lists(names, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(names, st.lists(names, unique=True), max_size=2),
        "pattern": patterns, "minimum": numbers, "maximum": numbers,
        "exclusiveMinimum": numbers, "exclusiveMaximum": numbers,
        "multipleOf": st.sampled_from([1, 2, 0.5, 1.5]), "uniqueItems": st.booleans(),
        "minLength": counts, "maxLength": counts, "minItems": counts, "maxItems": counts,
        "minProperties": counts, "maxProperties": counts,
        "properties": named, "dependentSchemas": named,
        "patternProperties": st.dictionaries(patterns, inner, max_size=2),
        "additionalProperties": inner, "propertyNames": inner, "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2), "contains": inner,
        "minContains": counts, "maxContains": counts,
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "not": inner, "if": inner, "then": inner, "else": inner,
        "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two", "#named"]),
    }  # fmt: skip


def one_schema(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    known = keywords(inner)
    chosen = st.lists(st.sampled_from(sorted(known)), max_size=4, unique=True)
    return st.booleans() | chosen.flatmap(
        lambda some: st.fixed_dictionaries(
            {
                name: known[name]
                for name in (*some, *(BESIDE[each] for each in some if each in BESIDE))
            }
        )
    )


flat = one_schema(st.booleans() | st.fixed_dictionaries({"type": types}))


def without_references(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: without_references(each) for key, each in schema.items() if key != "$ref"}
    return [without_references(each) for each in schema] if isinstance(schema, list) else schema


@st.composite
def schemas(draw: st.DrawFn) -> Any:
    schema = draw(one_schema(one_schema(flat)))
    definitions = {
        "one": without_references(draw(flat)),
        "two": {"$anchor": "named", "type": draw(types)},
    }
    return {**schema, "$defs": definitions} if isinstance(schema, dict) else schema


def is_valid(schema: Any, value: Any) -> bool:
    return not Validator(schema, Searcher(1)).errors(value)


@given(schemas(), values)
def test_agrees_with_jsonschema(schema: Any, value: Any) -> None:
    note(f"{schema}")
    assert list(schema_faults(schema, ())) == []
    Draft202012Validator.check_schema(schema)
    assert is_valid(schema, value) == Draft202012Validator(schema).is_valid(value)


def test_all_keywords_are_tried() -> None:
    assert {*keywords(values), *NOTES, "$defs", "definitions", "format"} == set(KNOWN)


@for_each(
    ("format", "good", "bad"),
    [
        ("date", ["2026-02-28"], ["2026-02-30", "20260228", "28.2.2026", ""]),
        ("time", ["10:00:00Z", "10:00:00.5+01:00"], ["10:00", "25:00:00Z", "10:00:00"]),
        ("date-time", ["2026-02-28T10:00:00Z", "2026-02-28t10:00:00z"], ["2026-02-28", "x"]),
        ("email", ["a@b.c"], ["a", "a@", "a b@c"]),
        ("uuid", ["12345678-1234-1234-1234-123456789abc"], ["12345678"]),
        ("uri", ["https://a.b/c", "urn:x"], ["a/b", "http:"]),
        ("ipv4", ["127.0.0.1"], ["127.0.0.256", "::1"]),
        ("ipv6", ["::1"], ["127.0.0.1", "::g"]),
    ],
)
def test_formats_are_asserted(format: str, good: list[str], bad: list[str]) -> None:
    schema = {"format": format}
    assert [text for text in good if not is_valid(schema, text)] == []
    assert [text for text in bad if is_valid(schema, text)] == []
    assert is_valid(schema, 5)


def test_decimal_multiples_are_those_of_people() -> None:
    assert is_valid({"multipleOf": 0.1}, 0.3)
    assert not is_valid({"multipleOf": 0.1}, 0.35)


def test_keywords_of_the_extra_are_known_as_such() -> None:
    assert needs_extra({"properties": {"a": {"unevaluatedProperties": False}}})
    assert not needs_extra({"enum": [{"unevaluatedProperties": False}]})
    (fault,) = schema_faults({"unevaluatedItems": False}, ())
    assert fault.hint is not None
    assert "jsonschema-rs" in fault.hint


def test_a_property_may_be_called_like_a_keyword_of_the_extra() -> None:
    assert not needs_extra({"properties": {"dependencies": {"type": "array"}}})
    assert not needs_extra({"default": {"dependencies": []}})
    assert needs_extra({"x": {"unevaluatedItems": False}, "$ref": "#/x"})
    assert needs_extra({"properties": {"host": {"format": "hostname"}}})


@for_each("has_extra", [False, True])
@for_each(
    ("schema", "path", "hint"),
    [
        ({"requird": ["a"]}, ("requird",), "required"),
        ({"properties": {"a": {"tpye": "string"}}}, ("properties", "a", "tpye"), "type"),
        ({"unevaluatedProperties": {"tpye": 1}}, ("unevaluatedProperties", "tpye"), "type"),
        ({"additionalItems": False}, ("additionalItems",), "`items`"),
        ({"contentEncoding": "base64"}, ("contentEncoding",), "no answer would be checked"),
    ],
)
def test_a_keyword_that_checks_nothing_is_told_with_and_without_the_extra(
    schema: Any, path: tuple[str, ...], hint: str, has_extra: bool
) -> None:
    faults = [each for each in schema_faults(schema, (), has_extra) if each.path == path]
    if not has_extra and "unevaluatedProperties" in path:
        assert faults == []  # the keyword above it is told already
        return
    (fault,) = faults
    assert (fault.code, hint in (fault.hint or "")) == ("unknown-option", True)


def test_a_keyword_without_the_one_it_goes_with_is_told() -> None:
    schema: Any = {"then": {"type": "string"}, "minContains": 3, "items": {"else": False}}
    assert [(fault.path, fault.message) for fault in schema_faults(schema, ())] == [
        (("then",), "`then` checks nothing without `if` beside it"),
        (("minContains",), "`minContains` checks nothing without `contains` beside it"),
        (("items", "else"), "`else` checks nothing without `if` beside it"),
    ]


def test_formats_are_known_or_told() -> None:
    for has_extra in (False, True):
        (fault,) = schema_faults({"format": "emial"}, (), has_extra)
        assert "is one of date, time" in fault.message
    (fault,) = schema_faults({"format": "hostname"}, ())
    assert "jsonschema-rs" in (fault.hint or "")
    assert list(schema_faults({"format": "hostname"}, (), has_extra=True)) == []


@for_each(
    ("schema", "message"),
    [
        ({"$defs": {"text": {"type": "string"}}, "$ref": "#/$defs"}, "`text` of the schema is not"),
        ({"title": "string", "properties": {"x": {"$ref": "#/title"}}}, "a schema is a mapping"),
        ({"x-parts": {"a": {"tpye": 1}}, "$ref": "#/x-parts/a"}, "`tpye` of the schema is not"),
    ],
)
def test_a_reference_leads_to_a_schema(schema: Any, message: str) -> None:
    faults = [each.message for each in schema_faults(schema, ()) if "$ref" in each.path]
    assert len(faults) == 1
    assert faults[0].startswith("`$ref` leads to something that is not a schema")
    assert message in faults[0]


@pytest.mark.skipif(not with_extra.is_installed(), reason="needs jsonschema-rs")
def test_every_format_of_the_extra_is_asserted_by_it() -> None:
    for format in FORMATS_ELSEWHERE:
        assert any(
            list(with_extra.find_errors({"format": format}, text)) for text in ("(\\ {", "a b")
        ), format


@pytest.mark.skipif(not with_extra.is_installed(), reason="needs jsonschema-rs")
def test_the_extra_validates_the_rest_and_fetches_nothing() -> None:
    schema: Any = {"properties": {"a": {"type": "integer"}}, "unevaluatedProperties": False}
    errors = list(with_extra.find_errors(schema, {"a": [1], "b": 2}))
    assert [error.path for error in errors] == ["$.a", "$"]
    away: Any = {"$ref": "https://example.com/schema", "unevaluatedProperties": False}
    assert "nothing is fetched" in (with_extra.object_to_schema(away) or "")


NODE = {"$ref": "#/$defs/node"}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {"node": {"oneOf": [
        {"type": "string"},
        {"type": "object", "properties": {"a": NODE}, "additionalProperties": False},
        {"type": "object", "properties": {"a": NODE, "b": NODE}, "required": ["b"]},
    ]}},
}  # fmt: skip
TWICE = {"type": ["object", "string"], "properties": {"a": {"$ref": "#"}}}
RECURSIVE: dict[str, Any] = {
    "one": TREE,
    "any": {"anyOf": [{"required": ["b"], **TWICE}, {"required": ["a"], **TWICE}]},
    "all": {"allOf": [TWICE, dict(TWICE)]},
    "not": {"not": {"not": TWICE}},
}


@pytest.mark.parametrize("name", RECURSIVE)
@pytest.mark.parametrize("leaf", ["x", 5])
def test_a_schema_that_refers_to_itself_takes_each_level_once(
    name: str, leaf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = leaf
    for _ in range(60):
        value = {"a": value}
    seen = 0
    errors = Validator._errors

    def count(self: Validator, *arguments: Any) -> Any:
        nonlocal seen
        seen += 1
        assert seen < 20_000, "it begins again at every level"
        return errors(self, *arguments)

    monkeypatch.setattr(Validator, "_errors", count)
    found = Validator(RECURSIVE[name], Searcher(1)).errors(value)
    assert len(found) <= 1


def test_what_has_no_end_is_no_verdict() -> None:
    with pytest.raises(EvalcaseError, match="refers to itself without an end"):
        Validator({"allOf": [{"$ref": "#"}]}, Searcher(1)).errors(1)
    deep: Any = 1
    for _ in range(2_000):
        deep = [deep]
    with pytest.raises(EvalcaseError, match="nested too deep"):
        Validator({"items": {"$ref": "#"}}, Searcher(1)).errors(deep)


def test_many_errors_are_cut_and_whoever_is_given_up_ends() -> None:
    schema: Any = {"items": {"type": "string"}}
    assert len(Validator(schema, Searcher(1)).errors(list(range(5_000)))) == MOST_ERRORS
    with pytest.raises(InterruptedError):
        Validator(schema, Searcher(1, lambda: True)).errors([1])
