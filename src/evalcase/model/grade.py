"""A score is what a grader says of an answer; a grade is what the case makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Annotated, Any

from msgspec import Meta, field

from evalcase.model.answer import Usage
from evalcase.model.failure import Failure
from evalcase.model.value import Value


class Score(Value, frozen=True):
    """How good an answer is, and why. Name, weight and threshold are not the grader's business."""

    value: float | None
    """Between 0 and 1; None if there was nothing to grade."""
    reason: str = ""
    """What was looked for, what was there, where they differ: for a person who reads it once."""
    details: dict[str, Any] = field(default_factory=dict)
    passed: bool | None = None
    """None leaves it to the grader's threshold."""
    stands: bool = False
    """Whether it fails also with `not: true`: where there was nothing to look at, or no clear
    verdict, there is nothing to turn round."""

    def __post_init__(self) -> None:
        fault = fault_of_score(self)
        if fault is not None:
            raise ValueError(f"a Score was given {fault}")


def fault_of_score(score: Score) -> str | None:
    """What is wrong with a score, after words such as `it was given`; None if nothing is."""
    value = score.value
    passed: object = score.passed
    reason: object = score.reason
    details: object = score.details
    if not (0 <= value <= 1 if type(value) is float else is_share(value)):
        return f"the score {value!r:.60}, which is not a number from 0 to 1"
    if passed is not None and type(passed) is not bool:
        return f"{passed!r:.60} as `passed`"
    if passed and value is None:
        return "that it passed, without a score"
    if not isinstance(reason, str):
        return f"a {type(reason).__name__} as the reason"
    if not isinstance(details, dict):
        return f"a {type(details).__name__} as the details"
    return None


def is_share(value: object) -> bool:
    """Whether it is a part of 1, or nothing at all."""
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


class Grade(Value, frozen=True):
    """A score as it counts in a case; or, where the grader broke, the failure and no score."""

    grader: str
    score: Annotated[float, Meta(ge=0, le=1)] | None
    """Between 0 and 1; None if the grader broke, or found nothing to grade."""
    passed: bool
    reason: str
    details: dict[str, Any] = field(default_factory=dict)
    weight: Annotated[float, Meta(ge=0)] = 1.0
    required: bool = False
    failure: Failure | None = None
    asked: Annotated[int, Meta(ge=0)] = 0
    """How many questions the grader asked of targets, retries not counted."""
    usage: Usage | None = None
    """The tokens of those questions."""
    cached: Annotated[int, Meta(ge=0)] = 0
    """How many of their answers came from the cache."""
    asking_s: Annotated[float, Meta(ge=0)] | None = None
    """How long the answers took together, waiting for their turn included."""
    cost_usd: Annotated[float, Meta(ge=0)] | None = None
    """Their cost; None where nothing was asked, or a price is not known."""
    stands: bool = False
    """Whether it failed because there was nothing to look at, or no clear verdict: a grader that is
    made of others, and has `not: true`, can't turn that round either."""
    turn: Annotated[int, Meta(ge=1)] | None = None
    """Which turn of a conversation it is of, from 1; None where it is of the whole."""

    def __post_init__(self) -> None:
        score = self.score
        if not (0 <= score <= 1 if type(score) is float else is_share(score)):
            raise ValueError(f"a Grade has a score from 0 to 1, or None, not {score!r:.60}")
        if type(self.passed) is not bool:
            raise ValueError(f"`passed` of a Grade is True or False, not {self.passed!r:.60}")


_ROUNDING = 1e-9
_MOST_SUMMED = 6
"""Grades of which the sum is written out."""
"""A score of 0.8 that comes out as 0.7999999999999999 is still 0.8."""


def reaches(score: float, threshold: float) -> bool:
    return score >= threshold - _ROUNDING


def mean_score(grades: Sequence[Grade]) -> float | None:
    """The mean by weight. None where nothing has any: no grades, or none that weighs."""
    if len(grades) == 1 and grades[0].weight:
        return grades[0].score
    scored = [(grade.score, grade.weight) for grade in grades if grade.score is not None]
    heaviest = max((weight for _, weight in scored), default=0.0)
    if not heaviest:
        return None
    # By their shares, so that the product with a very small weight is not lost.
    shares = [(score, weight / heaviest) for score, weight in scored]
    return fsum(score * share for score, share in shares) / fsum(share for _, share in shares)


def write_sum(grades: Sequence[Grade]) -> str:
    """How the mean of some grades comes, for people; nothing where there are none, one or many."""
    scored = [grade for grade in grades if grade.score is not None]
    if not 1 < len(scored) <= _MOST_SUMMED:
        return ""
    by_weight = any(grade.weight != 1 for grade in scored)
    parts = [f"{grade.weight:g} × {grade.score:.4g}" if by_weight else f"{grade.score:.4g}"
             for grade in scored]  # fmt: skip
    return f": ({' + '.join(parts)}) ÷ {sum(grade.weight for grade in scored):g}"
