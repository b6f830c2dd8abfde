"""Grades to the verdict of a trial."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.types.grade import Grade, mean_score, reaches
from evalcase.types.result import Verdict


def decide_verdict(grades: Sequence[Grade], threshold: float | None = None) -> Verdict:
    """The verdict of one trial.

    A grader that broke makes it errored, whatever the others say. A grader that found nothing to
    grade (no score, no failure) can't make it fail, but it can't pass any more: it is ungraded.
    """
    if len(grades) == 1 and threshold is None:
        return _decide_by_one(grades[0])
    if any(grade.failure is not None for grade in grades):
        return "errored"
    graded = [grade for grade in grades if grade.score is not None]
    if threshold is None:
        if not all(grade.passed for grade in graded):
            return "failed"
    else:
        mean = mean_score(graded)
        if not all(grade.passed for grade in graded if grade.required):
            return "failed"
        if mean is None:
            return "ungraded"
        if not reaches(mean, threshold):
            return "failed"
    return "passed" if grades and len(graded) == len(grades) else "ungraded"


def _decide_by_one(grade: Grade) -> Verdict:
    """The same for the usual case of one grader."""
    if grade.failure is not None:
        return "errored"
    if grade.score is None:
        return "ungraded"
    return "passed" if grade.passed else "failed"
