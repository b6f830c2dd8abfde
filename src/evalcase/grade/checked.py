"""Whether what a grader returned is a grade that can be counted and recorded."""

from __future__ import annotations

import json

from evalcase.errors import EvalcaseError
from evalcase.model.grade import Grade


def checked(outcome: object) -> Grade:
    """The grade. Raise EvalcaseError if it is none, or one that would spoil a mean or a record."""
    if not isinstance(outcome, Grade):
        raise EvalcaseError(f"returned a {type(outcome).__name__}, which is not a Grade")
    score = outcome.score
    if score is not None and (isinstance(score, bool) or not _is_share(score)):
        raise EvalcaseError(f"returned the score {score!r:.60}, which is not a number from 0 to 1")
    if not isinstance(outcome.passed, bool):
        raise EvalcaseError(f"returned {outcome.passed!r:.60} as `passed`")
    if outcome.passed and score is None:
        raise EvalcaseError("returned a grade that passed without a score")
    if not isinstance(outcome.reason, str):
        raise EvalcaseError(f"returned a {type(outcome.reason).__name__} as the reason")
    if outcome.details:
        _check_details(outcome.details)
    return outcome


def _is_share(score: object) -> bool:
    return isinstance(score, int | float) and 0 <= score <= 1


def _check_details(details: object) -> None:
    try:
        json.dumps(details, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise EvalcaseError(f"returned details that are not JSON: {error}") from None
