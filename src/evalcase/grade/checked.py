"""Whether what a grader returned is a score that can be counted and recorded."""

from __future__ import annotations

import json

from evalcase.errors import EvalcaseError
from evalcase.model.grade import Score
from evalcase.text.plain_json import copy_json
from evalcase.text.strict_json import may_be_deep

_DEEP = 50


def check_score(outcome: object) -> Score:
    """The score. Raise EvalcaseError if it is none, or one that would spoil a mean or a record."""
    if not isinstance(outcome, Score):
        raise EvalcaseError(f"returned a {type(outcome).__name__}, which is not a Score")
    value = outcome.value
    if value is not None and (isinstance(value, bool) or not _is_share(value)):
        raise EvalcaseError(f"returned the score {value!r:.60}, which is not a number from 0 to 1")
    if outcome.passed is not None and not isinstance(outcome.passed, bool):
        raise EvalcaseError(f"returned {outcome.passed!r:.60} as `passed`")
    if outcome.passed and value is None:
        raise EvalcaseError("returned that it passed, without a score")
    if not isinstance(outcome.reason, str):
        raise EvalcaseError(f"returned a {type(outcome.reason).__name__} as the reason")
    if outcome.details or not isinstance(outcome.details, dict):
        _check_details(outcome.details)
    return outcome


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _check_details(details: object) -> None:
    if not isinstance(details, dict):
        raise EvalcaseError(f"returned a {type(details).__name__} as the details")
    try:
        # The exact look takes longer, and only few are so deep that it is needed.
        if may_be_deep(json.dumps(details, allow_nan=False), _DEEP):
            copy_json(details)
    except (TypeError, ValueError, RecursionError) as error:
        raise EvalcaseError(f"returned details that are not JSON: {error}") from None
