"""What a Python grader returned, to a grade. A value that has no clear meaning is an error."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

from evalcase.model.failure import Failure
from evalcase.model.grade import Grade

_FIELDS = ("score", "passed", "reason", "details")
_MEANINGS = (
    "return True or False, a number from 0 to 1, (score, reason), "
    "{score, passed, reason}, or a Grade"
)


def read_returned(value: object, threshold: float) -> Grade:
    """A grade; one with a failure if the value isn't one of those that mean something."""
    if isinstance(value, Grade):
        return value
    if isinstance(value, int | float):
        # Most do, and to ask for a mapping or another kind of number takes longer than to grade.
        return _grade(value, None, "", {}, threshold)
    if isinstance(value, tuple) and len(value) == 2:
        value = {"score": value[0], "reason": value[1]}
    if isinstance(value, Mapping):
        return _read_mapping(value, threshold)
    return _grade(value, None, "", {}, threshold)


def _read_mapping(value: Mapping[object, object], threshold: float) -> Grade:
    odd = [key for key in value if key not in _FIELDS]
    if odd:
        return _broken(f"returned a mapping with the key {odd[0]!r:.60}")
    score, passed = value.get("score"), value.get("passed")
    reason, details = value.get("reason"), value.get("details")
    if score is None and passed is None:
        return _broken("returned neither a score nor whether it passed")
    if passed is not None and not isinstance(passed, bool):
        return _broken(f"returned {passed!r:.60} as `passed`")
    if reason is not None and not isinstance(reason, str):
        return _broken(f"returned {type(reason).__name__} as the reason")
    if details is not None and not isinstance(details, dict):
        return _broken(f"returned {type(details).__name__} as the details")
    score = passed if score is None else score
    return _grade(score, passed, reason or "", details or {}, threshold)


def _grade(
    score: object, passed: bool | None, reason: str, details: dict[str, object], threshold: float
) -> Grade:
    if isinstance(score, bool):
        default, number = score, float(score)
        said = "the function said yes" if score else "the function said no"
    elif isinstance(score, int | float | Real) and 0 <= float(score) <= 1:
        number = float(score)
        default = number >= threshold
        said = f"scored {number:g}" if default else f"scored {number:g}, and {threshold:g} passes"
    else:
        shown = repr(score) if isinstance(score, Real) else f"a {type(score).__name__}"
        return _broken("returned nothing" if score is None else f"returned {shown}")
    return Grade("python", number, default if passed is None else passed, reason or said, details)


def _broken(what: str) -> Grade:
    message = f"the function {what}: {_MEANINGS}"
    return Grade("python", None, False, message, failure=Failure("grader", message))
