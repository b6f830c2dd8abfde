"""What a Python grader returned, to a score. A value that has no clear meaning is an error."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from numbers import Real

from evalcase.errors import EvalcaseError
from evalcase.types.grade import Score
from evalcase.types.problem import find_nearest, hint_at

_FIELDS = ("score", "passed", "reason", "details")
_ELSEWHERE = {
    "pass": "passed", "pass_": "passed", "success": "passed", "ok": "passed", "verdict": "passed",
    "value": "score", "comment": "reason", "explanation": "reason", "message": "reason",
    "metadata": "details",
}  # fmt: skip
"""What other tools call them."""
_MEANINGS = (
    "return True or False, a number from 0 to 1, text that says what is wrong, (score, reason), "
    "{score, passed, reason}, or a Score"
)


def read_returned(value: object) -> Score:
    """A score. Raise EvalcaseError if the value isn't one of those that mean something."""
    if isinstance(value, Score):
        return value
    if isinstance(value, int | float):
        # Most do, and to ask for a mapping or another kind of number takes longer than to grade.
        return _read_score(value, None, "", {})
    if isinstance(value, str) and value.strip():
        return Score(0.0, value, passed=False)
    if isinstance(value, tuple) and len(value) == 2:
        value = {"score": value[0], "reason": value[1]}
    if isinstance(value, Mapping):
        return _read_mapping(value)
    return _read_score(value, None, "", {})


def _read_mapping(value: Mapping[object, object]) -> Score:
    odd = [key for key in islice(value, len(_FIELDS) + 1) if key not in _FIELDS]
    if odd:
        hint = hint_at(_ELSEWHERE.get(str(odd[0])) or find_nearest(str(odd[0]), _FIELDS))
        told = f"returned a mapping with the key {odd[0]!r:.60}"
        raise _make_unclear_error(told + (f" ({hint})" if hint else ""))
    score, passed = value.get("score"), value.get("passed")
    reason, details = value.get("reason"), value.get("details")
    if score is None and passed is None:
        raise _make_unclear_error("returned neither a score nor whether it passed")
    if passed is not None and not isinstance(passed, bool):
        raise _make_unclear_error(f"returned {passed!r:.60} as `passed`")
    if reason is not None and not isinstance(reason, str):
        raise _make_unclear_error(f"returned {type(reason).__name__} as the reason")
    if details is not None and not isinstance(details, dict):
        raise _make_unclear_error(f"returned {type(details).__name__} as the details")
    return _read_score(passed if score is None else score, passed, reason or "", details or {})


def _read_score(
    score: object, passed: bool | None, reason: str, details: dict[str, object]
) -> Score:
    if isinstance(score, bool):
        said = "the function returned True" if score else "the function returned False"
        return Score(float(score), reason or said, details, score if passed is None else passed)
    if isinstance(score, int | float | Real) and 0 <= float(score) <= 1:
        return Score(float(score), reason, details, passed)
    raise _make_unclear_error(
        "returned nothing" if score is None else f"returned {_show_score(score)}"
    )


def _show_score(score: object) -> str:
    if isinstance(score, str):
        blank = "only white space" if score else "an empty text"
        return f"{score!r:.60} as the score" if score.strip() else blank
    return repr(score) if isinstance(score, Real) else f"a {type(score).__name__}"


def _make_unclear_error(what: str) -> EvalcaseError:
    return EvalcaseError(f"the function {what}: {_MEANINGS}")
