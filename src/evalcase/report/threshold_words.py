"""How the mean of the grades of a trial stands to the threshold of its case, for whoever shows it.

Where a case has a threshold, no single grader decides: without the sum nobody sees why it failed.
"""

from __future__ import annotations

from evalcase.model.case import Case
from evalcase.model.grade import Grade
from evalcase.model.result import Result

_MOST = 6
"""Grades of which the sum is written out."""


def mean_words(result: Result, case: Case) -> str:
    """What a trial scored, what it needs, and how that comes; nothing where there is no
    threshold."""
    if case.threshold is None or result.score is None:
        return ""
    scored = [grade for grade in result.grades if grade.score is not None]
    needed = f"{case.threshold:g}"
    mean = f"{result.score:.2f}"
    if result.score < case.threshold <= float(mean):
        mean = f"{result.score:.4g}"
    failed = [grade.grader for grade in scored if grade.required and not grade.passed]
    missed = f"; `{failed[0]}` is required and failed" if failed else ""
    return f"{mean} of {needed} needed{_write_sum(scored)}{missed}"


def _write_sum(grades: list[Grade]) -> str:
    if not 1 < len(grades) <= _MOST:
        return ""
    by_weight = any(grade.weight != 1 for grade in grades)
    parts = [f"{grade.weight:g} × {grade.score:.4g}" if by_weight else f"{grade.score:.4g}"
             for grade in grades]  # fmt: skip
    return f": ({' + '.join(parts)}) ÷ {sum(grade.weight for grade in grades):g}"
