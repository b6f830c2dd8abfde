"""What `fields` may say of one field: a value that it equals, or a mapping that is a matcher."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from evalcase.graders.compare.bounds import find_crossed
from evalcase.graders.compare.dates import object_to_format, read_expected
from evalcase.model.conflict import conflict
from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON, JSON_TYPES, describe_kind
from evalcase.model.option import (
    Record,
    faults_of,
    made_of,
    only_these,
    option,
    options_of,
    properties_of,
)
from evalcase.model.shape import (
    Anything,
    Choice,
    Flag,
    ListOf,
    Number,
    OptionFault,
    Plain,
    Text,
)
from evalcase.model.shape_names import PathText
from evalcase.model.shape_one_of import OneOf
from evalcase.model.shape_pattern import Pattern
from evalcase.model.value import Value

_TYPE = Choice(JSON_TYPES, (
    ("str", "string"), ("text", "string"), ("int", "integer"), ("float", "number"),
    ("bool", "boolean"), ("list", "array"), ("dict", "object"), ("mapping", "object"),
    ("none", "null"),
))  # fmt: skip


class _AsWritten(Number, frozen=True):
    """A number that is held, and shown, as it is written."""

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        return value


_SCALAR = OneOf((Text(), _AsWritten(), Flag()))


class _DateFormat(Plain, frozen=True):
    """A format of Python's for dates."""

    @property
    def words(self) -> str:
        return "a format for dates"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str):
            yield from Text(self.words).faults(value, path)
        elif (why := object_to_format(value)) is not None:
            what = f"`{path[-1]}` is not a format for dates: {why}"
            yield OptionFault(path, what, "write it as Python does: %d.%m.%Y")

    def schema(self) -> dict[str, JSON]:
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long something may be."""

    min: int | None = option(Number(0, whole=True), "The minimum.", default=None)
    max: int | None = option(Number(0, whole=True), "The maximum.", default=None)

    @conflict
    def _limit_nothing(self) -> Iterator[OptionFault]:
        if self.min is None and self.max is None:
            yield OptionFault((), "it needs `min` or `max`", code="missing-option")

    @conflict
    def _are_out_of_order(self) -> Iterator[OptionFault]:
        return find_crossed(self.min, self.max)


@dataclass(frozen=True, slots=True)
class MatcherOptions:
    """One of the first nine says what is checked, the others how."""

    equals: JSON = option(Anything(), "The value it must equal, as JSON.", default=None)
    contains: Any = option(
        OneOf((_SCALAR, ListOf(_SCALAR, "a list of values"))),
        "A part of the text, or an item of the list; a list means all of them.", default=None,
    )  # fmt: skip
    regex: str | None = option(Pattern(), "A pattern to find in the text.", default=None)
    one_of: tuple[JSON, ...] | None = option(
        ListOf(Anything(), "a list of values"), "The accepted values.", default=None
    )
    number: float | None = option(_AsWritten(), "The number it must be.", default=None)
    date: str | None = option(
        Text("a date in quotes"), "The date or time it must be.", default=None
    )
    type: str | tuple[str, ...] | None = option(
        OneOf((_TYPE, ListOf(_TYPE, "a list of types"))),
        "Its JSON type, or several accepted types.", default=None,
    )  # fmt: skip
    exists: bool | None = option(Flag(), "Whether the field must exist.", default=None)
    length: int | Bounds | None = option(
        OneOf((Number(0, whole=True), Record(Bounds, "a mapping with `min` and `max`"))),
        "Its number of characters, items or keys.", default=None,
    )  # fmt: skip
    within: float = option(
        Number(0), "How far a number may be off; for a date, in days.", default=0.0,
        elsewhere=("tolerance", "days"),
    )  # fmt: skip
    within_percent: float = option(
        Number(0), "How far a number may be off, in percent.", default=0.0, elsewhere=("relative",)
    )
    formats: tuple[str, ...] = option(
        ListOf(_DateFormat(), "a list of formats"),
        "Accepted date formats, as in Python's `strptime`; by default, ISO 8601.", default=(),
        elsewhere=("format",),
    )  # fmt: skip
    ignore_case: bool = option(Flag(), "Ignore upper and lower case.", default=False)
    weight: float = option(Number(0), "How much the field counts.", default=1.0)
    required: bool = option(
        Flag(), "Whether this field must match, regardless of the others.", default=False
    )


CHECKS = ("equals", "contains", "regex", "one_of", "number", "date", "type", "exists", "length")
_AS_DATA = "data is written as {equals: {…}}"
_GOES_WITH = {
    "within": ("number", "date"),
    "within_percent": ("number",),
    "formats": ("date",),
    "ignore_case": ("equals", "contains", "regex", "one_of"),
}


class Matcher(Value, frozen=True):
    """What is checked of a field, by which argument, and how."""

    check: str
    argument: Any
    how: MatcherOptions


class FieldShape(Value, frozen=True):
    """A value, or a mapping that is a matcher."""

    @property
    def words(self) -> str:
        return "a value or a matcher"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, dict):
            return
        unwell: set[str | int] = set()
        for fault in faults_of(MatcherOptions, value, f"the matcher of `{path[-1]}`", path):
            unwell |= set(fault.path[len(path) : len(path) + 1])
            is_data = fault.code == "unknown-option" and value.keys().isdisjoint(CHECKS)
            yield fault._replace(hint=_AS_DATA) if is_data and not fault.names_meant else fault
        yield from _find_conflicts(value, path, unwell)

    def read(self, value: JSON) -> Matcher:
        if not isinstance(value, dict):
            return Matcher("equals", value, MatcherOptions(equals=value))
        how: MatcherOptions = made_of(MatcherOptions, value)
        (check,) = [name for name in CHECKS if name in value]
        read = options_of(MatcherOptions)[check].shape.read
        return Matcher(check, None if value[check] is None else read(value[check]), how)

    def schema(self) -> dict[str, JSON]:
        properties = properties_of(options_of(MatcherOptions), nullable=True)
        return {"if": {"type": "object"}, "then": only_these(properties)}


def _find_conflicts(
    value: dict[str, JSON], path: KeyPath, unwell: Set[str | int]
) -> Iterator[OptionFault]:
    checks = [name for name in CHECKS if name in value]
    if not checks and not value.keys().isdisjoint(unwell):
        return  # what is meant by it may be one
    if not checks:
        listed = ", ".join(f"`{name}`" for name in CHECKS)
        needs = f"the matcher of `{path[-1]}` needs one of {listed}"
        yield OptionFault(path, needs, _AS_DATA, code="missing-option")
        return
    if len(checks) > 1:
        what = f"`{checks[1]}` can't be used with `{checks[0]}`"
        yield OptionFault((*path, checks[1]), what, "a matcher checks one thing", at="key")
        return
    check = checks[0]
    if check not in unwell and check != "equals" and value[check] is None:
        yield OptionFault((*path, check), f"`{check}` is null, which is not a {check}")
        return
    for name, fitting in _GOES_WITH.items():
        if name in value and check not in fitting:
            what = f"`{name}` goes with {' and '.join(f'`{each}`' for each in fitting)} only"
            yield OptionFault((*path, name), what, at="key")
    if not unwell.isdisjoint(("date", "formats")):
        return
    well = {name: each for name, each in value.items() if name not in unwell}
    how: MatcherOptions = made_of(MatcherOptions, well)
    if how.date is not None and read_expected(how.date, how.formats) is None:
        by = "ISO 8601" if not how.formats else f"ISO 8601 or any of {', '.join(how.formats)}"
        yield OptionFault((*path, "date"), f"`date` is not a date by {by}: {how.date:.60}")


class FieldMap(Value, frozen=True):
    """A mapping of paths to what is at them."""

    @property
    def words(self) -> str:
        return "a mapping of paths to values or matchers"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, dict):
            what = f"`{path[-1]}` is {self.words}, not {describe_kind(value)}"
            yield OptionFault(path, what, code="wrong-type", unlike=True)
            return
        if not value:
            yield OptionFault(path, f"`{path[-1]}` is empty: it names no field")
        for key, each in value.items():
            for fault in PathText().faults(key, (*path, key)):
                yield fault._replace(at="key")
            yield from FieldShape().faults(each, (*path, key))
        weights = [
            each.get("weight", 1) if isinstance(each, dict) else 1 for each in value.values()
        ]
        if weights and not any(weights):
            yield OptionFault(path, "the weights are all 0, so there is no share")

    def read(self, value: JSON) -> dict[str, Matcher]:
        assert isinstance(value, dict)
        return {path: FieldShape().read(each) for path, each in value.items()}

    def schema(self) -> dict[str, JSON]:
        return {
            "type": "object", "minProperties": 1, "additionalProperties": FieldShape().schema(),
        }  # fmt: skip
