from __future__ import annotations

from jsonschema import Draft202012Validator

from evalcase.model.either import Schema, unite_schemas
from evalcase.model.json_value import JSON
from evalcase.model.shape import Choice, Flag, ListOf, Number, Text
from evalcase.model.shape_one_of import OneOf
from tests.for_each import for_each

TEXT: Schema = {"type": "string", "minLength": 1}
TEXTS: Schema = {"type": "array", "items": TEXT}


def test_of_several_types_the_one_that_was_meant_is_told() -> None:
    validator = Draft202012Validator(unite_schemas([TEXT, TEXTS]))
    assert [error.message for error in validator.iter_errors(5)] == [
        "5 is not of type 'string', 'array'"
    ]
    (error,) = validator.iter_errors(["a", 5])
    assert (error.message, list(error.path)) == ("5 is not of type 'string'", [1])


def test_of_one_type_any_may_fit() -> None:
    assert unite_schemas([TEXT, {"type": "string"}]) == {"anyOf": [TEXT, {"type": "string"}]}
    assert unite_schemas([{"enum": ["a"]}, TEXTS]) == {"anyOf": [{"enum": ["a"]}, TEXTS]}


@for_each(
    "shape",
    [
        OneOf((Text(), ListOf(Text()))),
        OneOf((Flag(), ListOf(Text()))),
        OneOf((Number(0), Text())),
        OneOf((Choice(("a", "b")), ListOf(Choice(("a", "b"))))),
    ],
)
@for_each("value", ["", "a", [], ["a"], [""], [1], 0, -1, True, None, {}])
def test_the_schema_of_alternatives_agrees_with_their_faults(shape: OneOf, value: JSON) -> None:
    found = list(shape.faults(value, ("it",)))
    assert Draft202012Validator(shape.schema()).is_valid(value) == (not found)
