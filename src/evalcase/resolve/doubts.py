"""What the reader of a text was in doubt about, looked into by who knows which value is what."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import LOST_SPELLING, QUOTE_IT, KeyPath
from evalcase.model.json_value import MAX_DEPTH, measure_depth
from evalcase.model.message import is_message
from evalcase.resolve.findings import Findings

_DEEPEST_CASE = MAX_DEPTH - 2
"""A suite in canonical form is a mapping with a list of cases."""


def look_into(
    data: dict[str, Any], expected: Any, path: KeyPath, expected_at: KeyPath, findings: Findings
) -> None:
    """Look at a case in canonical form, and at its `expected_output` as it was written."""
    doubts = findings.doubts
    if (
        doubts.deep
        and data.get("input", ()) is not None
        and measure_depth(data, _DEEPEST_CASE) > _DEEPEST_CASE
    ):
        message = f"the canonical form of this case is nested more than {MAX_DEPTH} deep"
        hint = "what `evalcase show` prints of it can't be read as an eval file again"
        findings.add("nearly-too-deep", path, message, hint)
    if doubts.respelt:
        _check_spelling(expected, expected_at, findings)


def _check_spelling(value: Any, path: KeyPath, findings: Findings) -> None:
    """Find numbers that are all there is to expect: a version or a code is easily taken for one."""
    if type(value) is list:
        for index, item in enumerate(value):
            if is_message(item):
                _check_spelling(item, (*path, index), findings)
    elif is_message(value):
        _check_spelling(value.get("content"), (*path, "content"), findings)
    elif type(value) in (int, float):
        message = f"this is read as the number {value!r}, so the way it is written is lost"
        findings.add(LOST_SPELLING, path, message, QUOTE_IT)
