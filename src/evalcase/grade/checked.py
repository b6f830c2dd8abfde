"""Whether what a grader returned is a score that can be counted and recorded."""

from __future__ import annotations

from evalcase.errors import EvalcaseError
from evalcase.model.grade import Score
from evalcase.model.json_value import JSON
from evalcase.text.plain_json import NotJsonError, copy_json, plain_text


def check_score(outcome: object) -> Score:
    """The score. Raise EvalcaseError if it is none, or one that would spoil a mean or a record."""
    if not isinstance(outcome, Score):
        raise EvalcaseError(f"returned a {type(outcome).__name__}, which is not a Score")
    value = outcome.value
    is_share = 0 <= value <= 1 if type(value) is float else _is_share(value)
    if not is_share:
        raise EvalcaseError(f"returned the score {value!r:.60}, which is not a number from 0 to 1")
    if outcome.passed is not None and not isinstance(outcome.passed, bool):
        raise EvalcaseError(f"returned {outcome.passed!r:.60} as `passed`")
    if outcome.passed and value is None:
        raise EvalcaseError("returned that it passed, without a score")
    if not isinstance(outcome.reason, str):
        raise EvalcaseError(f"returned a {type(outcome.reason).__name__} as the reason")
    if type(outcome.details) is dict and not outcome.details and type(outcome.reason) is str:
        return outcome
    # Plain values all through: those of a class of their own may do anything when they are used.
    reason, details = plain_text(outcome.reason), _plain_details(outcome.details)
    return Score(outcome.value, reason, details, outcome.passed, outcome.stands is True)


def _is_share(value: object) -> bool:
    """Whether it is a part of 1, or nothing at all."""
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _plain_details(details: object) -> dict[str, JSON]:
    if not isinstance(details, dict):
        raise EvalcaseError(f"returned a {type(details).__name__} as the details")
    try:
        copied = copy_json(details)
    except (NotJsonError, RecursionError) as error:
        raise EvalcaseError(f"returned details that are not JSON: {error}") from None
    assert isinstance(copied, dict)
    return copied
