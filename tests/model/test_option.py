from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from evalcase.model.json_value import JSON
from evalcase.model.option import Record, faults_of, made_of, option, with_options
from evalcase.model.shape import Number


@with_options
class Price:
    input: float = option(Number(0), "For what goes in.", example=0.15)
    cached: float | None = option(Number(0), "For what was there.", default=None)


@with_options
class Options:
    price: Price | None = option(Record(Price, "a mapping of prices"), "Prices.", default=None)


def said(value: JSON) -> list[tuple[object, str, str | None]]:
    found = faults_of(Options, {"price": value}, "it", ("targets",))
    return [(fault.path, fault.message, fault.hint) for fault in found]


def test_a_record_is_held_as_its_dataclass() -> None:
    assert made_of(Options, {"price": {"input": 1, "cached": None}}) == Options(Price(1.0))
    assert made_of(Options, {"price": None}) == Options()


def test_faults_of_a_record_have_their_paths_and_whole_names() -> None:
    here = ("targets", "price")
    assert said(3) == [(here, "`price` is a mapping of prices, not 3", None)]
    assert said({}) == [(here, "`price` needs `input`; for example input: 0.15", None)]
    assert said({"input": -1, "cahced": 1}) == [
        ((*here, "input"), "`price.input` is a number of 0 or more, not -1", None),
        ((*here, "cahced"), "`price` has no option `cahced`", "did you mean `cached`?"),
    ]


@pytest.mark.parametrize("value", [{"input": 1}, {"input": 0, "cached": 0.5}, {}, {"x": 1}, 3])
def test_the_schema_of_a_record_agrees_with_its_faults(value: JSON) -> None:
    schema = Record(Price, "a mapping of prices").schema()
    assert Draft202012Validator(schema).is_valid(value) == (not said(value))
