"""How the mean of the grades of a trial stands to the threshold of its case, for whoever shows it.

Where a case has a threshold, no single grader decides: without the sum nobody sees why it failed.
"""

from __future__ import annotations

from evalcase.types.case import Case
from evalcase.types.grade import write_sum
from evalcase.types.result import Result


def mean_words(result: Result, case: Case) -> str:
    """What a trial scored, what it needs, and how that comes; nothing where there is no
    threshold."""
    if case.threshold is None or result.score is None:
        return ""
    needed = f"{case.threshold:g}"
    mean = f"{result.score:.2f}"
    if result.score < case.threshold <= float(mean):
        mean = f"{result.score:.4g}"
    graded = [grade for grade in result.grades if grade.score is not None]
    failed = [grade.grader for grade in graded if grade.required and not grade.passed]
    missed = f"; `{failed[0]}` is required and failed" if failed else ""
    return f"{mean} of {needed} needed{write_sum(result.grades)}{missed}"
