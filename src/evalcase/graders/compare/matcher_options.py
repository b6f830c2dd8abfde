"""What `fields` may say of one field: a value that it equals, or a mapping that is a matcher."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from evalcase.graders.compare.bounds import find_crossed
from evalcase.graders.compare.dates import object_to_format, read_expected
from evalcase.types.options import (
    Amount,
    OptionFault,
    Pattern,
    Place,
    Text,
    Whole,
    about,
    check_path,
    of_kind,
)
from evalcase.types.problem import KeyPath
from evalcase.types.read_options import describe_options, make, problems_in
from evalcase.types.value import JSON, Value

JsonType = Annotated[
    Literal["string", "number", "integer", "boolean", "array", "object", "null"],
    of_kind(
        synonyms={
            "str": "string", "text": "string", "int": "integer", "float": "number",
            "bool": "boolean", "list": "array", "dict": "object", "mapping": "object",
            "none": "null",
        }
    ),
]  # fmt: skip
_Scalar = Text | bool | int | float


def _check_format(value: str, place: Place) -> Iterator[OptionFault]:
    why = object_to_format(value)
    if why is not None:
        hint = "write it as Python does: %d.%m.%Y"
        yield place.fault(f"is not a format for dates: {why}", hint)


DateFormat = Annotated[Text, of_kind("a format for dates", check=_check_format)]


class Bounds(Value, frozen=True):
    """How long something may be."""

    min: Annotated[Whole | None, about("The minimum.")] = None
    max: Annotated[Whole | None, about("The maximum.")] = None

    def conflicts(self) -> Iterator[OptionFault]:
        if self.min is None and self.max is None:
            yield OptionFault((), "it needs `min` or `max`", code="missing-option")
        yield from find_crossed(self.min, self.max)


class MatcherOptions(Value, frozen=True):
    """One of the first nine says what is checked, the others how."""

    equals: Annotated[JSON | UnsetType, about("The value it must equal, as JSON.")] = UNSET
    contains: Annotated[
        _Scalar | Annotated[tuple[_Scalar, ...], Meta(min_length=1)] | None,
        about(
            "A part of the text, or an item of the list; a list means all of them.",
            words="text, a number, true or false, or a list of values",
        ),
    ] = None
    regex: Annotated[Pattern | None, about("A pattern to find in the text.")] = None
    one_of: Annotated[
        Annotated[tuple[JSON, ...], Meta(min_length=1)] | None,
        about("The accepted values.", words="a list of values"),
    ] = None
    number: Annotated[int | float | None, about("The number it must be.", words="a number")] = None
    date: Annotated[
        Text | None, about("The date or time it must be.", words="a date in quotes")
    ] = None
    type: Annotated[
        JsonType
        | Annotated[tuple[JsonType, ...], Meta(min_length=1), of_kind("a list of types")]
        | None,
        about("Its JSON type, or several accepted types."),
    ] = None
    exists: Annotated[bool | None, about("Whether the field must exist.")] = None
    length: Annotated[Whole | Bounds | None, about("Its number of characters, items or keys.")] = (
        None
    )
    within: Annotated[
        Amount,
        about("How far a number may be off; for a date, in days.", elsewhere=("tolerance", "days")),
    ] = 0.0
    within_percent: Annotated[
        Amount, about("How far a number may be off, in percent.", elsewhere=("relative",))
    ] = 0.0
    formats: Annotated[
        Annotated[tuple[DateFormat, ...], Meta(min_length=1)],
        about(
            "Accepted date formats, as in Python's `strptime`; by default, ISO 8601.",
            elsewhere=("format",),
            words="a list of formats",
        ),
    ] = ()
    ignore_case: Annotated[bool, about("Ignore upper and lower case.")] = False
    weight: Annotated[Amount, about("How much the field counts.")] = 1.0
    required: Annotated[bool, about("Whether this field must match, regardless of the others.")] = (
        False
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


def _check_field(value: JSON, path: KeyPath) -> Iterator[OptionFault]:
    """What is wrong with a matcher. Any other value is right."""
    if not isinstance(value, dict):
        return
    faults = problems_in(MatcherOptions, value, f"the matcher of `{path[-1]}`", path)
    for fault in faults:
        is_data = fault.code == "unknown-option" and value.keys().isdisjoint(CHECKS)
        is_near = (fault.hint or "").startswith("did you mean")
        yield fault._replace(hint=_AS_DATA) if is_data and not is_near else fault
    bad = {fault.path[len(path)] for fault in faults if len(fault.path) > len(path)}
    yield from _find_conflicts(value, path, bad)


def _find_conflicts(
    value: dict[str, JSON], path: KeyPath, bad: Collection[str | int]
) -> Iterator[OptionFault]:
    """The options of a matcher that don't go together; some have problems already."""
    checks = [name for name in CHECKS if name in value]
    if not checks and bad:
        return
    if not checks:
        listed = ", ".join(f"`{name}`" for name in CHECKS)
        needs = f"the matcher of `{path[-1]}` needs one of {listed}"
        yield OptionFault(path, needs, _AS_DATA, code="missing-option")
        return
    if len(checks) > 1:
        what = f"`{checks[1]}` can't be used with `{checks[0]}`"
        yield OptionFault((*path, checks[1]), what, "a matcher checks one thing", at="key")
        return
    (check,) = checks
    if check not in ("equals", *bad) and value[check] is None:
        yield OptionFault((*path, check), f"`{check}` is null, which is not a {check}")
        return
    for name, fitting in _GOES_WITH.items():
        if name in value and name not in bad and check not in fitting:
            what = f"`{name}` goes with {' and '.join(f'`{each}`' for each in fitting)} only"
            yield OptionFault((*path, name), what, at="key")
    how = make(MatcherOptions, {name: each for name, each in value.items() if name not in bad})
    if how.date is not None and read_expected(how.date, how.formats) is None:
        by = "ISO 8601" if not how.formats else f"ISO 8601 or any of {', '.join(how.formats)}"
        yield OptionFault((*path, "date"), f"`date` is not a date by {by}: {how.date:.60}")


def _read_field(value: JSON) -> Matcher:
    if not isinstance(value, dict):
        return Matcher("equals", value, MatcherOptions(equals=value))
    how = make(MatcherOptions, value)
    (check,) = [name for name in CHECKS if name in value]
    return Matcher(check, getattr(how, check), how)


def _check_fields(value: dict[str, JSON], place: Place) -> Iterator[OptionFault]:
    if not value:
        yield place.fault("is empty: it names no field")
    for key, each in value.items():
        here = (*place.path, key)
        yield from (
            fault._replace(at="key") for fault in check_path(key, Place(here, len(here) - 1))
        )
        yield from _check_field(each, here)
    weights = [each.get("weight", 1) if isinstance(each, dict) else 1 for each in value.values()]
    if weights and not any(weights):
        yield OptionFault(place.path, "the weights are all 0, so there is no share")


FieldMatchers = Annotated[
    dict[str, Matcher],
    of_kind(
        "a mapping of paths to values or matchers",
        written=dict[str, Any],
        check=_check_fields,
        read=lambda value: {path: _read_field(each) for path, each in value.items()},
        inside=MatcherOptions,
        schema={
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "if": {"type": "object"},
                "then": describe_options(MatcherOptions, nullable=True),
            },
        },
    ),
]
"""A mapping of paths to what is at them."""
