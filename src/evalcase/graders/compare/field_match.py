"""Whether a field is what a matcher says, and in which words a person is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from evalcase.graders.compare.dates import read_expected, read_moment
from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.lenience import are_within, is_number
from evalcase.graders.compare.matcher_options import Bounds, Matcher
from evalcase.graders.compare.patterns import Searcher
from evalcase.types.value import JSON, are_same, describe_kind
from evalcase.util.json import Found, JsonPath, MissingError


class FieldOutcome(NamedTuple):
    matches: bool
    got: str
    """What is there, in words."""
    note: str = ""
    """Why that is not it, where the two don't show it."""
    is_unseen: bool = False
    """Whether there was nothing to look at, so that nothing says that it is something else."""


def match_field(path: JsonPath, matcher: Matcher, value: JSON, searcher: Searcher) -> FieldOutcome:
    """Whether all that a path leads to is what the matcher says."""
    if matcher.check == "exists":
        return _match_existence(path, matcher.argument, value)
    try:
        found = path.find_all(value)
    except MissingError as error:
        return FieldOutcome(False, "nothing", str(error), is_unseen=True)
    outcomes = [_match_one(each, matcher, searcher) for each in found]
    failed = [number for number, each in enumerate(outcomes) if not each.matches]
    if len(found) == 1:
        return outcomes[0]
    if not failed:
        return FieldOutcome(True, f"{len(found)} values that all match")
    first = failed[0]
    where = f"{len(failed)} of {len(found)} don't match, the first at `{found[first].path}`"
    note = f": {outcomes[first].note}" if outcomes[first].note else ""
    is_unseen = all(outcomes[number].is_unseen for number in failed)
    return FieldOutcome(False, outcomes[first].got, f"{where}{note}", is_unseen)


def _match_existence(path: JsonPath, wanted: bool, value: JSON) -> FieldOutcome:
    found = path.find_all(value, is_needed=False)
    if not wanted:
        return FieldOutcome(not found, "nothing" if not found else quote_value(found[0].value))
    try:
        return FieldOutcome(True, quote_value(path.find_all(value)[0].value))
    except MissingError as error:
        return FieldOutcome(False, "nothing", str(error))


def _match_one(found: Found, matcher: Matcher, searcher: Searcher) -> FieldOutcome:
    got = found.value
    if matcher.check == "regex":
        return _match_pattern(matcher, got, searcher)
    note = _OBJECTIONS[matcher.check](matcher, got)
    is_unseen = not isinstance(got, _LOOKS_AT.get(matcher.check, object))
    return FieldOutcome(note is None, quote_value(got), note or "", is_unseen)


def _match_pattern(matcher: Matcher, got: JSON, searcher: Searcher) -> FieldOutcome:
    if not isinstance(got, str):
        note = f"it is {describe_kind(got)}, not text"
        return FieldOutcome(False, quote_value(got), note, is_unseen=True)
    found = searcher.find(matcher.argument, got, ignore_case=matcher.how.ignore_case)
    return FieldOutcome(found is not None, quote_value(got))


def _object_to_value(matcher: Matcher, got: JSON) -> str | None:
    return None if _are_alike(matcher.argument, got, matcher.how.ignore_case) else ""


def _object_to_choice(matcher: Matcher, got: JSON) -> str | None:
    fits = any(_are_alike(each, got, matcher.how.ignore_case) for each in matcher.argument)
    return None if fits else ""


def _are_alike(wanted: JSON, got: JSON, ignore_case: bool) -> bool:
    if ignore_case and isinstance(wanted, str) and isinstance(got, str):
        return wanted.casefold() == got.casefold()
    return are_same(wanted, got)


def _object_to_content(matcher: Matcher, got: JSON) -> str | None:
    wanted = matcher.argument if isinstance(matcher.argument, tuple) else (matcher.argument,)
    ignore_case = matcher.how.ignore_case
    if isinstance(got, list):
        missing = [w for w in wanted if not any(_are_alike(w, each, ignore_case) for each in got)]
    elif isinstance(got, str):
        text = got.casefold() if ignore_case else got
        missing = [w for w in wanted if not _is_in(w, text, ignore_case)]
    else:
        return f"it is {describe_kind(got)}, and contains nothing"
    return None if not missing else f"{', '.join(map(quote_value, missing))} not in it"


def _is_in(wanted: JSON, text: str, ignore_case: bool) -> bool:
    if not isinstance(wanted, str):
        return False
    return (wanted.casefold() if ignore_case else wanted) in text


def _object_to_number(matcher: Matcher, got: JSON) -> str | None:
    if not isinstance(got, int | float) or not is_number(got):
        return f"it is {describe_kind(got)}, not a number"
    wanted = matcher.argument
    margin = max(matcher.how.within, abs(wanted) * matcher.how.within_percent / 100)
    if are_same(wanted, got) or are_within(wanted, got, margin):
        return None
    try:
        return f"off by {abs(wanted - got):g}"
    except OverflowError:
        return "off by more than can be said"


def _object_to_date(matcher: Matcher, got: JSON) -> str | None:
    if not isinstance(got, str):
        return f"it is {describe_kind(got)}, not text"
    formats = matcher.how.formats
    wanted, found = read_expected(matcher.argument, formats), read_moment(got.strip(), formats)
    assert wanted is not None, "checked before"
    if found is None:
        return f"not a date by {', '.join(formats) if formats else 'ISO 8601'}"
    days = wanted.days_from(found)
    if days is None:
        return "only one of them says its time zone"
    return None if days <= matcher.how.within else f"off by {days:g} days"


def _object_to_type(matcher: Matcher, got: JSON) -> str | None:
    wanted = (matcher.argument,) if isinstance(matcher.argument, str) else matcher.argument
    return None if any(is_type(got, each) for each in wanted) else f"it is {describe_kind(got)}"


def is_type(value: JSON, name: str) -> bool:
    """Whether a value has a type of JSON; a number without a fraction is an integer."""
    if name == "integer":
        return is_number(value) and (isinstance(value, int) or float(value).is_integer())  # type: ignore[arg-type]
    if name == "number":
        return is_number(value)
    return isinstance(value, _TYPES[name])


_TYPES = {
    "string": str, "boolean": bool, "array": list, "object": dict, "null": type(None),
}  # fmt: skip


def _object_to_length(matcher: Matcher, got: JSON) -> str | None:
    if not isinstance(got, str | list | dict):
        return f"it is {describe_kind(got)}, and has no length"
    found, wanted = len(got), matcher.argument
    least, most = (wanted.min, wanted.max) if isinstance(wanted, Bounds) else (wanted, wanted)
    fits = (least is None or found >= least) and (most is None or found <= most)
    return None if fits else f"its length is {found:,}"


_OBJECTIONS: dict[str, Callable[[Matcher, Any], str | None]] = {
    "equals": _object_to_value, "contains": _object_to_content, "one_of": _object_to_choice,
    "number": _object_to_number, "date": _object_to_date, "type": _object_to_type,
    "length": _object_to_length,
}  # fmt: skip
_LOOKS_AT = {"contains": str | list, "length": str | list | dict}
"""What those that look inside of a value can look into."""
