"""What is said of an answer: a score by a grader, a grade by the case, a label by a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from evalcase.types.answer import Asking, Failure
from evalcase.types.options import Place, Text, of_kind
from evalcase.types.problem import Finding
from evalcase.types.value import Value


class Score(Value, frozen=True):
    """How good an answer is, and why. The grade adds name, weight and threshold."""

    value: float | None
    """Between 0 and 1; None if there was nothing to grade."""
    reason: str = ""
    """The expected, the actual and their difference, for people."""
    details: dict[str, Any] = field(default_factory=dict)
    passed: bool | None = None
    """None leaves it to the grader's threshold."""
    stands: bool = False
    """Whether it fails also with `not: true`, because there was nothing to look at, or no clear
    verdict."""

    def __post_init__(self) -> None:
        value, passed, details = self.value, self.passed, self.details
        if value is not None and not (type(value) in (int, float) and 0 <= value <= 1):
            raise ValueError(f"the value of a Score is a number from 0 to 1, not {value!r:.60}")
        if passed is not None and passed not in (True, False):
            raise ValueError(f"`passed` of a Score is a boolean, not {passed!r:.60}")
        if not isinstance(self.reason, str):
            raise ValueError(f"the reason of a Score is text, not {self.reason!r:.60}")
        if not isinstance(details, dict):
            raise ValueError(f"the details of a Score are a dict, not {details!r:.60}")
        if passed and value is None:
            raise ValueError(f"a Score that passed has a value, not {None!r:.60}")


class Grade(Asking, frozen=True):
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
    stands: bool = False
    """As in Score: a combined grader with `not: true` can't invert it either."""
    turn: Annotated[int, Meta(ge=1)] | None = None
    """Of a conversation: the number of the turn, from 1; None for the whole."""
    indicator: bool = False
    """Whether it is only shown, and doesn't count in the verdict or the score."""

    @property
    def verdict(self) -> Literal["passed", "failed", "errored", "ungraded"]:
        if self.failure is not None:
            return "errored"
        if self.passed:
            return "passed"
        return "ungraded" if self.score is None else "failed"


_ROUNDING = 1e-9
"""A score of 0.8 that comes out as 0.7999999999999999 is still 0.8."""


def reaches(score: float, threshold: float) -> bool:
    return score >= threshold - _ROUNDING


def mean_score(grades: Sequence[Grade]) -> float | None:
    """The mean by weight; None where no grade has a score and a weight."""
    scored = [
        (grade.score, grade.weight)
        for grade in grades
        if grade.score is not None and not grade.indicator
    ]
    heaviest = max((weight for _, weight in scored), default=0.0)
    if not heaviest:
        return None
    # By shares, so that the product with a very small weight is not lost.
    shares = [(score, weight / heaviest) for score, weight in scored]
    return fsum(score * share for score, share in shares) / fsum(share for _, share in shares)


def _check_levels(value: dict[str, str], place: Place) -> Iterator[Finding]:
    if len(value) < 2 or set(value) != {str(each) for each in range(len(value))}:
        message = "there are at least two levels, numbered from 0 without a gap"
        yield Finding(place.path, message, "write {0: …, 1: …}")


Levels = Annotated[
    dict[str, Text],
    of_kind(
        "a mapping of levels, such as {0: …, 1: …, 2: …}",
        check=_check_levels,
        schema={
            "type": "object",
            "required": ["0", "1"],
            "propertyNames": {"pattern": "^(0|[1-9][0-9]?)$"},
            "additionalProperties": {"type": "string", "minLength": 1},
        },
    ),
]
"""What an answer of each level is like, numbered from 0, the best one last."""
