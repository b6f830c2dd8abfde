"""Whether a row has the shape of a result, to its depths: whoever reads results from here on may
rely on their types, also where the journal was made by somebody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Check = Callable[[Any], bool]

_MOST = 1e300


def check_result(row: dict[str, Any]) -> None:
    """Raise ValueError, with the name of the field, if a value has the wrong type."""
    _check("", row, _RESULT)
    if row.get("answer") is not None:
        _check("answer.", row["answer"], _ANSWER)
        _check("usage.", row["answer"].get("usage") or {}, _USAGE)
    if row.get("failure") is not None:
        _check("failure.", row["failure"], _FAILURE)
    for failure in row.get("retried", ()):
        _check("retried.", failure, _FAILURE)
    for grade in row.get("grades", ()):
        _check("grades.", grade, _GRADE)
        if grade.get("failure") is not None:
            _check("grades.failure.", grade["failure"], _FAILURE)


def _check(where: str, value: dict[str, Any], fields: dict[str, Check]) -> None:
    for name, fits in fields.items():
        if name in value and not fits(value[name]):
            raise ValueError(f"`{where}{name}` has the wrong type")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    # JSON has numbers that are too large for a float; written as one, they are read as infinity.
    return type(value) in (int, float) and -_MOST <= value <= _MOST  # type: ignore[operator]


def _is_count(value: object) -> bool:
    return type(value) is int


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _are_mappings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _are_messages(value: object) -> bool:
    return _are_mappings(value) and all(_is_text(item.get("role")) for item in value)  # type: ignore[attr-defined]


def _or_none(fits: Check) -> Check:
    return lambda value: value is None or fits(value)


_RESULT: dict[str, Check] = {
    "answer": _or_none(_is_mapping),
    "grades": _are_mappings,
    "failure": _or_none(_is_mapping),
    "retried": _are_mappings,
    "attempts": _is_count,
    "started_at": _is_text,
    "duration_s": _is_number,
}
_ANSWER: dict[str, Check] = {
    "messages": _are_messages,
    "usage": _or_none(_is_mapping),
    "cost_usd": _or_none(_is_number),
    "truncated": _is_truth,
    "cached": _is_truth,
}
_USAGE: dict[str, Check] = dict.fromkeys(
    ("input_tokens", "output_tokens", "cached_tokens"), _is_count
)
_GRADE: dict[str, Check] = {
    "grader": _is_text,
    "score": _or_none(_is_number),
    "passed": _is_truth,
    "reason": _is_text,
    "details": _is_mapping,
    "weight": _is_number,
    "required": _is_truth,
    "failure": _or_none(_is_mapping),
}
_FAILURE: dict[str, Check] = {"kind": _is_text, "message": _is_text, "details": _is_mapping}
