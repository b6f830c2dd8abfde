"""Fields of a JSON answer, each by its own matcher: how many of them are right, by weight."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from math import fsum
from typing import Annotated, ClassVar, NamedTuple

from evalcase.graders.compare.field_match import FieldOutcome, match_field
from evalcase.graders.compare.field_words import describe_matcher
from evalcase.graders.compare.matcher_options import FieldMatchers, Matcher
from evalcase.graders.compare.patterns import Searcher, settle
from evalcase.graders.compare.subject import graded_value
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import about
from evalcase.types.value import JSON
from evalcase.util.json import JsonPath

_NAMED = 5


class _Field(NamedTuple):
    path: str
    matcher: Matcher
    outcome: FieldOutcome

    def __str__(self) -> str:
        wanted = describe_matcher(self.matcher)
        note = f" ({self.outcome.note})" if self.outcome.note else ""
        return f"`{self.path}`: expected {wanted}, got {self.outcome.got}{note}"

    def row(self) -> dict[str, JSON]:
        how = self.matcher.how
        row: dict[str, JSON] = {
            "field": self.path, "expected": describe_matcher(self.matcher),
            "got": self.outcome.got, "matches": self.outcome.matches, "weight": how.weight,
        }  # fmt: skip
        row |= {"required": True} if how.required else {}
        return {**row, "note": self.outcome.note} if self.outcome.note else row


class FieldsGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "fields", "Fields of the answer, as JSON, have the expected values.", "value",
        takes_mapping=True, reads="value",
        example="- fields: {riskLevel: High, score: {number: 0.9, within: 0.05}}",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[
        FieldMatchers,
        about("Paths of fields, each with a value or a matcher.", example={"riskLevel": "High"}),
    ]

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        value = graded_value(context)
        return settle(lambda searcher: self._judge(value, searcher))

    def _judge(self, value: JSON, searcher: Searcher) -> Score:
        fields = [
            _Field(path, matcher, match_field(JsonPath(path), matcher, value, searcher))
            for path, matcher in self.value.items()
        ]
        total = fsum(each.matcher.how.weight for each in fields)
        right = fsum(each.matcher.how.weight for each in fields if each.outcome.matches)
        missed = [each for each in fields if each.matcher.how.required and not each.outcome.matches]
        counted = [each for each in fields if each.matcher.how.weight or each.matcher.how.required]
        # With those that could not be looked at it might have passed, so `not` makes no pass of it:
        # unless one that is required is something else.
        unseen = any(each.outcome.is_unseen for each in counted)
        might_pass = unseen and all(each.outcome.is_unseen for each in missed)
        # A share of 0.8 that comes out as 0.7999999999999999 is still 0.8.
        share = round(right / total, 9)
        details: dict[str, JSON] = {"fields": [each.row() for each in fields]}
        reason, passed = _write_reason(fields, right, total), False if missed else None
        return Score(share, reason, details, passed, stands=might_pass)


def _write_reason(fields: Sequence[_Field], right: float, total: float) -> str:
    failed = [each for each in fields if not each.outcome.matches]
    if not failed:
        return f"all {len(fields)} fields match" if len(fields) > 1 else "the field matches"
    said = [*map(str, failed[:_NAMED])]
    if len(failed) > _NAMED:
        said.append(f"and {len(failed) - _NAMED} more")
    needed = [f"`{each.path}`" for each in failed if each.matcher.how.required]
    said += [f"required: {', '.join(needed)}"] if needed else []
    if len(fields) == 1:
        return "; ".join(said)
    is_even = all(each.matcher.how.weight == 1 for each in fields)
    weighed = "" if is_even else f" ({right:g} of {total:g} by weight)"
    return f"{len(fields) - len(failed)} of {len(fields)} fields match{weighed}: {'; '.join(said)}"
