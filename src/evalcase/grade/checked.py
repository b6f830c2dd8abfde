"""Whether what a grader returned is a score that can be counted and recorded."""

from __future__ import annotations

from typing import Any

from evalcase.errors import EvalcaseError
from evalcase.model.grade import Score, fault_of_score
from evalcase.model.json_value import JSON
from evalcase.text.plain_json import NotJsonError, copy_json, plain_text


def check_score(outcome: object) -> Score:
    """The score. Raise EvalcaseError if it is none, or one that would spoil a mean or a record."""
    if not isinstance(outcome, Score):
        raise EvalcaseError(f"returned a {type(outcome).__name__}, which is not a Score")
    fault = fault_of_score(outcome)
    if fault is not None:
        raise EvalcaseError(f"returned {fault}")
    if type(outcome.details) is dict and not outcome.details and type(outcome.reason) is str:
        return outcome
    # Plain values all through: those of a class of their own may do anything when they are used.
    reason, details = plain_text(outcome.reason), _plain_details(outcome.details)
    return Score(outcome.value, reason, details, outcome.passed, outcome.stands is True)


def _plain_details(details: dict[str, Any]) -> dict[str, JSON]:
    try:
        copied = copy_json(details)
    except (NotJsonError, RecursionError) as error:
        raise EvalcaseError(f"returned details that are not JSON: {error}") from None
    assert isinstance(copied, dict)
    return copied
