"""Whether a call that was made is the expected one: by a mode for its arguments, or by fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalcase.graders.compare.call_match import Call, contained
from evalcase.graders.compare.call_options import ToolRule
from evalcase.graders.compare.field_match import match_field
from evalcase.graders.compare.field_words import describe_matcher
from evalcase.graders.compare.json_difference import Difference, find_differences
from evalcase.model.quick_dataclass import dataclass
from evalcase.system.patterns.searches import Searches
from evalcase.text.json_path import JsonPath


@dataclass(frozen=True, slots=True)
class CallRules:
    arguments: str
    tools: Mapping[str, ToolRule]
    searches: Searches

    def lacking(self, expected: Call, got: Call) -> Iterator[Difference]:
        """How a call falls short of an expected one of the same name."""
        rule = self.tools.get(expected.name)
        mode = rule.arguments if rule is not None and rule.arguments else self.arguments
        yield from _compare(mode, expected, got)
        for path, matcher in (rule.fields or {}).items() if rule is not None else ():
            outcome = match_field(JsonPath(path), matcher, got.arguments, self.searches)
            if not outcome.matches:
                note = f" ({outcome.note})" if outcome.note else ""
                wanted = f"expected {describe_matcher(matcher)}, got {outcome.got}{note}"
                yield Difference(path, wanted)


def _compare(mode: str, expected: Call, got: Call) -> Iterator[Difference]:
    if mode == "ignore" or expected.arguments is None:
        return iter(())
    if mode == "contains":
        return contained(expected, got)
    if got.is_deep:
        return iter((Difference("$", "nested too deep to be compared"),))
    if mode == "exact":
        return find_differences(expected.arguments, got.arguments)
    # What was given has to be part of what is expected: the same with the sides exchanged.
    beyond = find_differences(got.arguments, expected.arguments, extra_keys=True)
    return (Difference(each.path, f"beyond what is expected ({each.what})") for each in beyond)
