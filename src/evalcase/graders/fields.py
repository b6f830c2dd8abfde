"""Fields of a JSON answer, each by its own matcher: how many of them are right, by weight."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from math import fsum, inf
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import UNSET, Meta, UnsetType

from evalcase.errors import EvalcaseError
from evalcase.graders.base import CONTENT, NEITHER, Context, Grader, Half, check_needs
from evalcase.graders.differences import NOTHING, are_within, expected_value, is_number, quote_value
from evalcase.graders.json import graded_value
from evalcase.graders.text import Searcher, settle
from evalcase.types.grade import Score
from evalcase.types.options import Amount, Pattern, Place, Text, Whole, about, check_path, of_kind
from evalcase.types.problem import Finding
from evalcase.types.read_options import make, problems_in
from evalcase.types.value import JSON, Value, are_same, describe_kind, replace
from evalcase.util.json import JsonPath, MissingError

_NAMED, _LISTED = 5, 10

# Dates


_TIMES = ("%H", "%I", "%M", "%S", "%f", "%p", "%X", "%c", "%z", "%Z")


class Moment(NamedTuple):
    """A date or a time in a text, read by formats that are given: nothing is guessed."""

    at: datetime
    has_time: bool
    """Whether it has the time of the day, and not only the day."""

    def days_from(self, other: Moment) -> float | None:
        """How many days they are apart; None if only one of them has a time zone. Where one is a
        day, only the days count."""
        if not (self.has_time and other.has_time):
            return float(abs((self.at.date() - other.at.date()).days))
        if (self.at.utcoffset() is None) != (other.at.utcoffset() is None):
            return None
        return abs((self.at - other.at).total_seconds()) / 86_400


def _read_moment(text: str, formats: Sequence[str], *, or_iso: bool = False) -> Moment | None:
    """By the first format that fits; by ISO 8601 if there are none, or if an author wrote it."""
    with suppress(ValueError):
        if or_iso or not formats:
            return Moment(datetime.fromisoformat(text), len(text) > 10)
    for each in formats:
        with suppress(ValueError):
            # A format with a zone makes it aware of one; others compare as they stand.
            found = datetime.strptime(text, each)  # noqa: DTZ007
            return Moment(found, any(mark in each for mark in _TIMES))
    return None


def _check_format(value: str, place: Place) -> Iterator[Finding]:
    sample = datetime(2001, 2, 3, 4, 5, 6)  # noqa: DTZ001 - only to try the format
    try:
        if "%" not in value:
            raise ValueError("it has none of the directives of Python, such as %Y-%m-%d")
        datetime.strptime(sample.strftime(value), value)  # noqa: DTZ007
    except ValueError as error:
        hint = "write it as Python does: %d.%m.%Y"
        yield place.fault(f"is not a format for dates: {error}", hint)


# Matchers as they are written

DateFormat = Annotated[Text, of_kind("a format for dates", check=_check_format)]
JsonType = Literal["string", "number", "integer", "boolean", "array", "object", "null"]
_Scalar = Text | bool | int | float


class Bounds(Value, frozen=True):
    min: Annotated[Whole | None, about("The minimum.")] = None
    max: Annotated[Whole | None, about("The maximum.")] = None

    def conflicts(self) -> Iterator[Finding]:
        yield from check_needs(self, ("min", "max"), "it")


class Matcher(Value, frozen=True):
    """One of the first ten says what is checked, the others how."""

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
    date: Annotated[Text | None, about("The date it must be.", words="a date in quotes")] = None
    type: Annotated[
        JsonType
        | Annotated[tuple[JsonType, ...], Meta(min_length=1), of_kind("a list of types")]
        | None,
        about("Its JSON type, or several."),
    ] = None
    exists: Annotated[bool | None, about("Whether the field must exist.")] = None
    length: Annotated[Whole | Bounds | None, about("How many characters, items or keys.")] = None
    expected: Annotated[
        Literal["equals", "number", "date"] | None,
        about("How to compare with the same path of `expected_output`."),
    ] = None
    within: Annotated[
        Amount, about("How far it may be off; a date, in days.", elsewhere=("tolerance",))
    ] = 0.0
    within_percent: Annotated[Amount, about("How far a number may be off, in percent.")] = 0.0
    formats: Annotated[
        Annotated[tuple[DateFormat, ...], Meta(min_length=1)],
        about("Date formats of `strptime`; by default, ISO 8601."),
    ] = ()
    ignore_case: Annotated[bool, about("Ignore upper and lower case.")] = False
    weight: Annotated[Amount, about("How much the field counts.")] = 1.0
    required: Annotated[bool, about("Whether it must match in any case.")] = False

    @property
    def checks(self) -> list[str]:
        """The names of what it checks: one, if it is right."""
        return [name for name in CHECKS
                if getattr(self, name) is not (UNSET if name == "equals" else None)]  # fmt: skip

    def conflicts(self) -> Iterator[Finding]:
        if not self.checks:
            listed = ", ".join(f"`{name}`" for name in CHECKS)
            hint = "data is written as {equals: {…}}"
            yield Finding((), f"a matcher needs one of {listed}", hint, code="missing-option")
            return
        check, *others = self.checks
        if others:
            what = f"`{others[0]}` can't be used with `{check}`"
            yield Finding((others[0],), what, "a matcher checks one thing", at="key")
            return
        for name, fitting in _GOES_WITH.items():
            if getattr(self, name) and check not in fitting:
                what = f"`{name}` goes with {', '.join(f'`{each}`' for each in fitting)} only"
                yield Finding((name,), what, at="key")
        if self.date is not None and _read_moment(self.date, self.formats, or_iso=True) is None:
            by = " or any of ".join(filter(None, ["ISO 8601", ", ".join(self.formats)]))
            yield Finding(("date",), f"`date` is not a date by {by}: {self.date:.60}")

    def against(self, path: JsonPath, expected: JSON) -> Matcher | None:
        """The matcher for what is expected at its path; None if that is nothing. Raise
        EvalcaseError if it can't be compared so."""
        if self.expected is None:
            return self
        try:
            (found,) = path.find_all(expected)
        except (MissingError, ValueError):
            return None
        kind = {"number": int | float, "date": str}.get(self.expected, object)
        is_moment = self.expected != "date" or _read_moment(
            str(found.value), self.formats, or_iso=True
        )
        if not isinstance(found.value, kind) or not is_moment:
            what = f"`expected_output` has {quote_value(found.value)} at `{found.path}`"
            raise EvalcaseError(f"{what}, which is not a {self.expected}")
        return replace(self, expected=None, **{self.expected: found.value})

    def __str__(self) -> str:
        """What it looks for, after "expected"."""
        (check,) = self.checks
        wanted = getattr(self, check)
        several = wanted if isinstance(wanted, tuple) else (wanted,)
        if check == "type":
            return " or ".join(several)
        if check == "exists":
            return "something" if wanted else "nothing"
        if isinstance(wanted, Bounds):
            end = "or more" if wanted.max is None else f"to {wanted.max:,}"
            return f"a length of {wanted.min or 0:,} {end}"
        said = str(wanted)
        if check == "regex":
            said = f"a match of `{wanted}`"
        elif check != "date":
            more = ", …" if len(several) > _LISTED else ""
            lead = {"contains": "something with ", "one_of": "one of "}.get(check, "")
            said = f"{lead}{', '.join(map(quote_value, several[:_LISTED]))}{more}"
        margins = [f"{self.within:g}"] if self.within else []
        margins += [f"{self.within_percent:g} %"] if self.within_percent else []
        if margins:
            said += f" ± {' or '.join(margins)}{' days' if check == 'date' else ''}"
        return f"{said} (case ignored)" if self.ignore_case else said


CHECKS = ("equals", "contains", "regex", "one_of", "number", "date", "type", "exists", "length",
          "expected")  # fmt: skip
_GOES_WITH = {
    "within": ("number", "date", "expected"),
    "within_percent": ("number", "expected"),
    "formats": ("date", "expected"),
    "ignore_case": ("equals", "contains", "regex", "one_of", "expected"),
}


def _check_fields(value: dict[str, JSON], place: Place) -> Iterator[Finding]:
    if not value:
        yield place.fault("is empty: it names no field")
    for key, each in value.items():
        here = (*place.path, key)
        for fault in check_path(key, Place(here, len(here) - 1)):
            yield fault._replace(at="key")
        if isinstance(each, dict):
            faults = problems_in(Matcher, each, f"the matcher of `{key}`", here)
            # What is misspelt is not missing.
            yield from [
                each for each in faults if len(faults) == 1 or each.code != "missing-option"
            ]
    weights = [each.get("weight", 1) if isinstance(each, dict) else 1 for each in value.values()]
    if weights and not any(weights):
        yield Finding(place.path, "the weights are all 0, so there is no share")


def _read_field(value: JSON) -> Matcher:
    return make(Matcher, value if isinstance(value, dict) else {"equals": value})


FieldMatchers = Annotated[
    dict[str, Matcher],
    of_kind(
        "a mapping of paths to values or matchers",
        written=dict[str, Any],
        check=_check_fields,
        read=lambda value: {path: _read_field(each) for path, each in value.items()},
        inside=Matcher,
    ),
]


# Whether a field is what its matcher says


class FieldOutcome(NamedTuple):
    """What comes of a matcher, in words."""

    matches: bool
    got: str
    note: str = ""
    """Why that doesn't match, where what is expected and what is there don't show it."""
    is_unseen: bool = False
    """Whether the field has nothing to check, so that nothing says that it is something else."""

    def tell(self, matcher: Matcher) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"expected {matcher}, got {self.got}{note}"


def match_field(path: JsonPath, matcher: Matcher, value: JSON, searcher: Searcher) -> FieldOutcome:
    """Whether all values that a path leads to match."""
    exists = matcher.exists
    try:
        found = path.find_all(value, is_needed=exists is not False)
    except MissingError as error:
        return FieldOutcome(False, "nothing", str(error), is_unseen=exists is None)
    if exists is not None:
        got = quote_value(found[0].value) if found else "nothing"
        return FieldOutcome(bool(found) is exists, got)
    outcomes = [_match_one(each.value, matcher, searcher) for each in found]
    if len(found) == 1:
        return outcomes[0]
    failed = [(each, outcome) for each, outcome in zip(found, outcomes, strict=True)
              if not outcome.matches]  # fmt: skip
    if not failed:
        return FieldOutcome(True, f"{len(found)} values that all match")
    part, first = failed[0]
    where = f"{len(failed)} of {len(found)} don't match, the first at `{part.path}`"
    note = f"{where}: {first.note}" if first.note else where
    return FieldOutcome(False, first.got, note, all(outcome.is_unseen for _, outcome in failed))


def _match_one(got: JSON, matcher: Matcher, searcher: Searcher) -> FieldOutcome:
    (check,) = matcher.checks
    kinds = _LOOKS_INTO.get(check)
    if kinds is not None and not isinstance(got, kinds):
        why = f"it is {describe_kind(got)}"
        return FieldOutcome(False, quote_value(got), why, is_unseen=True)
    note = _object_to(check, matcher, got, searcher)
    return FieldOutcome(note is None, quote_value(got), note or "")


_LOOKS_INTO = {"contains": str | list, "length": str | list | dict, "regex": str}
"""The values that a matcher can look into."""
_TYPES = {
    "string": str, "boolean": bool, "array": list, "object": dict, "null": type(None),
}  # fmt: skip


def _object_to(check: str, how: Matcher, got: Any, searcher: Searcher) -> str | None:  # noqa: ANN401
    """Why a value doesn't match: empty if the two show it, None if it does."""
    wanted, note = getattr(how, check), ""
    several = wanted if isinstance(wanted, tuple) else (wanted,)
    match check:
        case "number":
            return _object_to_number(wanted, got, how)
        case "date":
            return _object_to_date(wanted, got, how)
        case "contains":
            missing = [each for each in several if not _is_in(got, each, how.ignore_case)]
            fits, note = not missing, f"{', '.join(map(quote_value, missing))} not in it"
        case "regex":
            fits = searcher.find(wanted, got, ignore_case=how.ignore_case) is not None
        case "type":
            fits, note = any(_is_type(got, each) for each in several), f"it is {describe_kind(got)}"
        case "length":
            limits = wanted if isinstance(wanted, Bounds) else Bounds(wanted, wanted)
            fits = (limits.min or 0) <= len(got) <= (inf if limits.max is None else limits.max)
            note = f"its length is {len(got):,}"
        case _:
            fits = any(_are_alike(each, got, how.ignore_case) for each in several)
    return None if fits else note


def _are_alike(wanted: JSON, got: JSON, ignore_case: bool) -> bool:
    if ignore_case and isinstance(wanted, str) and isinstance(got, str):
        return wanted.casefold() == got.casefold()
    return are_same(wanted, got)


def _is_in(got: str | list[JSON], wanted: JSON, ignore_case: bool) -> bool:
    if isinstance(got, list):
        return any(_are_alike(wanted, each, ignore_case) for each in got)
    if not isinstance(wanted, str):
        return False
    return wanted.casefold() in got.casefold() if ignore_case else wanted in got


def _object_to_number(wanted: float, got: JSON, how: Matcher) -> str | None:
    if not isinstance(got, int | float) or not is_number(got):
        return f"it is {describe_kind(got)}, not a number"
    margin = max(how.within, abs(wanted) * how.within_percent / 100)
    if are_same(wanted, got) or are_within(wanted, got, margin):
        return None
    try:
        return f"off by {abs(wanted - got):g}"
    except OverflowError:
        return "off by more than a number can hold"


def _object_to_date(text: str, got: JSON, how: Matcher) -> str | None:
    if not isinstance(got, str):
        return f"it is {describe_kind(got)}, not text"
    wanted = _read_moment(text, how.formats, or_iso=True)
    found = _read_moment(got.strip(), how.formats)
    assert wanted is not None, "checked before"
    if found is None:
        return f"not a date by {', '.join(how.formats) or 'ISO 8601'}"
    days = wanted.days_from(found)
    if days is None:
        return "only one of them says its time zone"
    return None if days <= how.within else f"off by {days:g} days"


def _is_type(value: JSON, name: str) -> bool:
    """Whether a value has a type of JSON; a number without a fraction is an integer."""
    if name not in ("integer", "number"):
        return isinstance(value, _TYPES[name])
    return is_number(value) and (name == "number" or value % 1 == 0)  # type: ignore[operator]


# The grader


class FieldsGrader(Grader):
    name = "fields"
    description = "Fields of the answer, as JSON, have the expected values."
    argument = "value"
    reads = "value"
    example = "- fields: {riskLevel: High, score: {number: 0.9, within: 0.05}}"

    value: Annotated[
        FieldMatchers,
        about("Paths, each with a value or a matcher.", example={"riskLevel": "High"}),
    ]

    def compares(self) -> frozenset[Half]:
        compares = any(each.expected is not None for each in self.value.values())
        return CONTENT if compares else NEITHER

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        expected = expected_value(context.case) if self.compares() else None
        paths = {path: JsonPath(path) for path in self.value}
        against = {path: each.against(paths[path], expected) for path, each in self.value.items()}
        matchers = {path: each for path, each in against.items() if each is not None}
        if not matchers:
            return NOTHING
        value = graded_value(context)
        return settle(lambda searcher: self._judge(matchers, value, searcher))

    def _judge(self, matchers: Mapping[str, Matcher], value: JSON, searcher: Searcher) -> Score:
        fields = [
            (path, each, match_field(JsonPath(path), each, value, searcher))
            for path, each in matchers.items()
        ]
        total = fsum(each.weight for _, each, _ in fields)
        right = fsum(each.weight for _, each, outcome in fields if outcome.matches)
        missed = [field for field in fields if field[1].required and not field[2].matches]
        # With fields that had nothing to check it might have passed, so `not` makes no pass of it:
        # unless one that is required is something else.
        counted = [outcome for _, each, outcome in fields if each.weight or each.required]
        unseen = any(each.is_unseen for each in counted)
        might_pass = unseen and all(outcome.is_unseen for *_, outcome in missed)
        # A share of 0.8 that comes out as 0.7999999999999999 is still 0.8.
        share = round(right / total, 9) if total else float(not missed)
        rows: list[JSON] = [
            {
                "field": path, "expected": str(each), "got": outcome.got,
                "matches": outcome.matches, "weight": each.weight,
                **({"required": True} if each.required else {}),
                **({"note": outcome.note} if outcome.note else {}),
            }
            for path, each, outcome in fields
        ]  # fmt: skip
        reason, passed = _write_reason(fields, right, total), False if missed else None
        return Score(share, reason, {"fields": rows}, passed, stands=might_pass)


_Field = tuple[str, Matcher, FieldOutcome]


def _write_reason(fields: Sequence[_Field], right: float, total: float) -> str:
    failed = [field for field in fields if not field[2].matches]
    if not failed:
        return f"all {len(fields)} fields match" if len(fields) > 1 else "the field matches"
    said = [f"`{path}`: {outcome.tell(matcher)}" for path, matcher, outcome in failed[:_NAMED]]
    if len(failed) > _NAMED:
        said.append(f"and {len(failed) - _NAMED} more")
    needed = [f"`{path}`" for path, matcher, _ in failed if matcher.required]
    said += [f"required: {', '.join(needed)}"] if needed else []
    if len(fields) == 1:
        return "; ".join(said)
    is_even = all(matcher.weight == 1 for _, matcher, _ in fields)
    weighed = "" if is_even else f" ({right:g} of {total:g} by weight)"
    return f"{len(fields) - len(failed)} of {len(fields)} fields match{weighed}: {'; '.join(said)}"
