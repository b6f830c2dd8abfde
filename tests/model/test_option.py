from __future__ import annotations

from collections.abc import Iterator

from jsonschema import Draft202012Validator

from evalcase.model.conflict import conflict
from evalcase.model.json_value import JSON
from evalcase.model.option import Record, faults_of, made_of, option, with_options
from evalcase.model.shape import Number, OptionFault, Text
from tests.for_each import for_each


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
    assert said({}) == [(here, "`price` needs `input`", "for example input: 0.15")]
    assert said({"input": -1, "cahced": 1}) == [
        ((*here, "input"), "`price.input` is a number of 0 or more, not -1", None),
        ((*here, "cahced"), "`price` has no option `cahced`", "did you mean `cached`?"),
    ]


@for_each("value", [{"input": 1}, {"input": 0, "cached": 0.5}, {}, {"x": 1}, 3])
def test_the_schema_of_a_record_agrees_with_its_faults(value: JSON) -> None:
    schema = Record(Price, "a mapping of prices").schema()
    assert Draft202012Validator(schema).is_valid(value) == (not said(value))


@with_options
class Limits:
    unit: str = option(Text(), "Of what.")
    least: int | None = option(Number(0, whole=True), "The least.", default=None)
    most: int | None = option(Number(0, whole=True), "The most.", default=None)

    @property
    def is_said(self) -> bool:
        return self.least is not None or self.most is not None

    @conflict
    def _says_nothing(self) -> Iterator[OptionFault]:
        if not self.is_said:
            yield OptionFault((), "it needs `least` or `most`", code="missing-option")

    @conflict
    def _is_out_of_order(self) -> Iterator[OptionFault]:
        if self.least is not None and self.most is not None and self.least > self.most:
            yield OptionFault(("least",), "out of order")

    @conflict
    def _is_odd(self) -> Iterator[OptionFault]:
        if self.unit == "odd":
            yield OptionFault(("unit",), "odd")


@with_options
class MoreLimits(Limits):
    step: int | None = option(Number(1, whole=True), "How far apart.", default=None)

    @conflict
    def _steps_too_far(self) -> Iterator[OptionFault]:
        if self.step is not None and self.most is not None and self.step > self.most:
            yield OptionFault(("step",), "too far")


@for_each(
    ("values", "told"),
    [
        ({"least": 5, "most": 3, "unit": "x"}, ["out of order"]),
        ({"least": 5, "most": 3, "unit": 1}, ["`unit` is text, not 1", "out of order"]),
        ({"least": 5, "most": 3}, ["it needs `unit`", "out of order"]),
        ({"least": 5, "most": 3, "unti": "x"}, ["it has no option `unti`", "out of order"]),
        ({"least": "5", "unit": "odd"}, ["`least` is a whole number of 0 or more, not '5'", "odd"]),
        ({"unit": ""}, ["`unit` is empty", "it needs `least` or `most`"]),
        ({"leats": 5, "unit": "odd"}, ["it has no option `leats`", "odd"]),
        ({"zzz": 5, "unit": "odd"}, ["it has no option `zzz`", "odd"]),
        ({"most": 3, "step": 4, "unit": "odd"}, ["odd", "too far"]),
        ({"most": 3, "step": 4, "least": -1, "unit": "odd"},
         ["`least` is a whole number of 0 or more, not -1", "odd", "too far"]),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_told_of_all_that_is_well(
    values: dict[str, JSON], told: list[str]
) -> None:
    assert [fault.message for fault in faults_of(MoreLimits, values, "it")] == told
