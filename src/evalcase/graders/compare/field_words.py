"""What a matcher looks for, in words."""

from __future__ import annotations

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.matcher_options import Bounds, Matcher

_LISTED = 10


def describe_matcher(matcher: Matcher) -> str:
    """To go on after "expected"."""
    wanted = matcher.argument
    if matcher.check == "type":
        return " or ".join((wanted,) if isinstance(wanted, str) else wanted)
    if matcher.check == "exists":
        return "something" if wanted else "nothing"
    if matcher.check == "length":
        return f"a length of {_describe_bounds(wanted)}"
    if matcher.check == "date":
        return f"{wanted}{_describe_margin(matcher)}"
    ignored = " (case ignored)" if matcher.how.ignore_case else ""
    return f"{_describe_value(matcher)}{_describe_margin(matcher)}{ignored}"


def _describe_value(matcher: Matcher) -> str:
    wanted = matcher.argument
    if matcher.check == "regex":
        return f"a match of `{wanted}`"
    several = wanted if isinstance(wanted, tuple) else (wanted,)
    more = ", …" if len(several) > _LISTED else ""
    listed = ", ".join(map(quote_value, several[:_LISTED])) + more
    leads = {"contains": "something with ", "one_of": "one of "}
    return f"{leads.get(matcher.check, '')}{listed}"


def _describe_margin(matcher: Matcher) -> str:
    how = matcher.how
    margins = [f"{how.within:g}"] if how.within else []
    margins += [f"{how.within_percent:g} %"] if how.within_percent else []
    if not margins:
        return ""
    return f" ± {' or '.join(margins)}{' days' if matcher.check == 'date' else ''}"


def _describe_bounds(wanted: int | Bounds) -> str:
    if not isinstance(wanted, Bounds):
        return f"{wanted:,}"
    if wanted.max is None:
        return f"{wanted.min:,} or more"
    return f"{wanted.min:,} to {wanted.max:,}" if wanted.min else f"up to {wanted.max:,}"
