"""Whether a call that was made is the expected one: by a mode for its arguments, or by fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalcase.graders.compare.call_match import Call, find_missing
from evalcase.graders.compare.call_options import ToolRule
from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.field_match import match_field
from evalcase.graders.compare.field_words import describe_matcher
from evalcase.graders.compare.json_difference import Difference, find_differences, step_text
from evalcase.graders.compare.patterns import Searcher
from evalcase.types.value import JSON, Value
from evalcase.util.json import JsonPath


class CallRules(Value, frozen=True):
    arguments: str
    tools: Mapping[str, ToolRule]
    searcher: Searcher

    def lacking(self, expected: Call, got: Call) -> Iterator[Difference]:
        """How a call falls short of an expected one of the same name."""
        rule = self.tools.get(expected.name)
        mode = rule.arguments if rule is not None and rule.arguments else self.arguments
        yield from _compare_calls(mode, expected, got)
        for path, matcher in (rule.fields or {}).items() if rule is not None else ():
            outcome = match_field(JsonPath(path), matcher, got.arguments, self.searcher)
            if not outcome.matches:
                note = f" ({outcome.note})" if outcome.note else ""
                wanted = f"expected {describe_matcher(matcher)}, got {outcome.got}{note}"
                yield Difference(path, wanted)


def _compare_calls(mode: str, expected: Call, got: Call) -> Iterator[Difference]:
    if mode == "ignore" or expected.is_open:
        return iter(())
    if mode == "contains":
        return find_missing(expected, got)
    if got.is_deep:
        return iter((Difference("$", "nested too deep to be compared"),))
    if mode == "exact":
        return find_differences(expected.given, got.given)
    return _find_beyond(expected.given, got.given, "$")


def _find_beyond(expected: JSON, got: JSON, path: str) -> Iterator[Difference]:
    """What was given, and is no part of what is expected."""
    if not isinstance(expected, dict) or not isinstance(got, dict):
        yield from find_differences(expected, got, path)
        return
    for key, value in got.items():
        if key in expected:
            yield from _find_beyond(expected[key], value, path + step_text(key))
        else:
            yield Difference(path + step_text(key), f"not expected, got {quote_value(value)}")
