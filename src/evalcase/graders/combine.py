"""Graders that are made of graders: `all`, `any`, `at_least` and `weighted`, as deep as needed.

Each inner grader keeps its own threshold, weight and limit. If one of them broke, the whole is
broken, too: a crash is never hidden behind others that pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from evalcase.errors import GraderError
from evalcase.graders.base import Context, Grader, Graders, NamedGrader
from evalcase.types.grade import Grade, Score, mean_score
from evalcase.types.options import Count, about
from evalcase.types.problem import Finding
from evalcase.types.target import Surroundings
from evalcase.types.value import replace
from evalcase.util.text import write_count
from evalcase.util.user_calls import close_all

_ABOUT = "The graders, each written as in `graders`."
_MOST_REASONS = 5


class CombinedGrader(Grader):
    def load(self, surroundings: Surroundings) -> None:
        for each in self.inner():
            each.grader.load(surroundings)

    async def close(self) -> None:
        await close_all(each.grader.close for each in self.inner())

    async def grade(self, context: Context) -> Score:
        every = await context.grade_with(self.inner())
        counted = [grade for grade in every if not grade.indicator]
        details = {"grades": [_describe_grade(each) for each in every]}
        broken = [grade for grade in counted if grade.failure is not None]
        if broken and broken[0].failure is not None:
            # Where it happened is shown as if it had been asked alone.
            failure = broken[0].failure
            raise GraderError(failure.kind, _list_reasons(broken), {**failure.details, **details})
        return replace(self.decide(counted), details=details)

    def decide(self, grades: Sequence[Grade]) -> Score:
        """The score by how many pass: that of the last one that is needed."""
        needed = self.count_needed(len(grades))
        if not grades:
            return Score(None, "all of them are only indicators")
        passed = sum(grade.passed for grade in grades)
        scores = sorted((grade.score or 0.0 for grade in grades), reverse=True)
        value = scores[needed - 1] if any(grade.score is not None for grade in grades) else None
        failed = [grade for grade in grades if not grade.passed]
        missed = [grade for grade in failed if grade.required]
        said = f"{passed} of {write_count(len(grades), 'grader')} passed"
        if passed >= needed and not missed:
            return Score(value, said, passed=True)
        if passed < needed:
            wanted = "one is" if needed == 1 else f"{needed} are"
            reason = f"{said}, and {wanted} needed: {_list_reasons(failed)}"
        else:
            reason = f"{_name_missed(missed)}; {said}: {_list_reasons(missed)}"
        # With those that could not be looked at it might have passed, so `not` makes no pass of it.
        might_pass = passed + sum(map(_is_unseen, grades)) >= needed
        stands = might_pass and all(map(_is_unseen, missed))
        return Score(value, reason, passed=False, stands=stands)

    def count_needed(self, number: int) -> int:
        return number


class _Listed(CombinedGrader):
    argument = "value"

    value: Annotated[Graders, about(_ABOUT)]

    def inner(self) -> tuple[NamedGrader, ...]:
        return self.value


class AllGrader(_Listed):
    name = "all"
    description = "All of several graders pass."
    threshold = "none"
    example = "- all: [expected, python:checks:polite]"


class AnyGrader(_Listed):
    name = "any"
    description = "At least one of several graders passes."
    threshold = "none"
    example = "- any: [expected, python:checks:close_enough]"

    def count_needed(self, number: int) -> int:
        return min(1, number)


class AtLeastGrader(CombinedGrader):
    name = "at_least"
    description = "At least a given number of several graders pass."
    threshold = "none"
    example = "- at_least: {count: 2, of: [expected, python:checks:a, python:checks:b]}"

    count: Annotated[Count, about("How many must pass.", example=2)]
    of: Annotated[Graders, about(_ABOUT)]

    def inner(self) -> tuple[NamedGrader, ...]:
        return self.of

    def conflicts(self) -> Iterator[Finding]:
        if self.count > len(self.of):
            yield Finding(("count",), f"`count` is {self.count}, and `of` has only {len(self.of)}")

    def count_needed(self, number: int) -> int:
        return min(self.count, number)


class WeightedGrader(_Listed):
    name = "weighted"
    description = "The weighted mean of several graders reaches the threshold."
    threshold = "needed"
    example = "- {type: weighted, threshold: 0.8, value: [expected, python:checks:polite]}"

    def conflicts(self) -> Iterator[Finding]:
        written = [each for each in self.value if isinstance(each, Mapping)]
        if written and all(each.get("weight") == 0 for each in written):
            yield Finding(("value",), "the weights are all 0, so there is no mean")

    def decide(self, grades: Sequence[Grade]) -> Score:
        reason = _list_reasons([grade for grade in grades if not grade.passed])
        mean = mean_score(grades)
        if mean is None or any(grade.score is None for grade in grades):
            return Score(None, reason)  # what is left would be the mean of something else
        missed = [each for each in grades if each.required and not each.passed]
        said = [f"the mean is {mean:.4g}", _name_missed(missed), reason]
        unseen = any(_is_unseen(grade) for grade in grades if grade.weight or grade.required)
        # A mean of 0.8 that comes out as 0.7999999999999999 is still 0.8.
        passed = False if missed else None
        return Score(round(mean, 9), "; ".join(filter(None, said)), passed=passed, stands=unseen)


def _name_missed(missed: Sequence[Grade]) -> str:
    if not missed:
        return ""
    return f"required: {', '.join(f'`{each.grader}`' for each in missed)} did not pass"


def _is_unseen(grade: Grade) -> bool:
    """Whether it did not pass since there was nothing to look at, or to compare with."""
    return not grade.passed and (grade.stands or grade.score is None)


def _list_reasons(grades: Sequence[Grade]) -> str:
    said = [f"`{grade.grader}`: {grade.reason}" for grade in grades[:_MOST_REASONS]]
    more = len(grades) - len(said)
    return "; ".join([*said, f"and {more} more"] if more else said)


def _describe_grade(grade: Grade) -> dict[str, object]:
    """What a grader inside says, with its own details: a tree, as deep as they are nested."""
    failure = grade.failure
    beside = {
        "indicator": grade.indicator, "details": grade.details,
        "failure": failure and {"kind": failure.kind, "message": failure.message},
    }  # fmt: skip
    return {
        "grader": grade.grader, "score": grade.score, "passed": grade.passed,
        "reason": grade.reason, **{name: each for name, each in beside.items() if each},
    }  # fmt: skip
