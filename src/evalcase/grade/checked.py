"""Whether what a grader returned is a score that can be counted and recorded."""

from __future__ import annotations

from types import NoneType
from typing import Any

from evalcase.errors import EvalcaseError
from evalcase.types.grade import Score, fault_of_score
from evalcase.types.value import JSON
from evalcase.util.json import NotJsonError, copy_json, plain_text

_NUMBERS = (float, int, NoneType)
"""What a score is, but for classes of their own."""


def check_score(outcome: object) -> Score:
    """The score. Raise EvalcaseError if it is none, or one that would spoil a mean or a record."""
    if not isinstance(outcome, Score):
        raise EvalcaseError(f"returned a {type(outcome).__name__}, which is not a Score")
    fault = fault_of_score(outcome)
    if fault is not None:
        raise EvalcaseError(f"returned {fault}")
    number, is_plain = outcome.value, type(outcome) is Score and type(outcome.value) in _NUMBERS
    has_details = type(outcome.details) is not dict or outcome.details
    if is_plain and not has_details and type(outcome.reason) is str:
        return outcome
    # Plain values all through: those of a class of their own may do anything when they are used.
    value = number if number is None or type(number) in _NUMBERS else float(number)
    reason, details = plain_text(outcome.reason), _plain_details(outcome.details)
    return Score(value, reason, details, outcome.passed, outcome.stands is True)


def _plain_details(details: dict[str, Any]) -> dict[str, JSON]:
    try:
        copied = copy_json(details)
    except (NotJsonError, RecursionError) as error:
        raise EvalcaseError(f"returned details that are not JSON: {error}") from None
    assert isinstance(copied, dict)
    return copied
