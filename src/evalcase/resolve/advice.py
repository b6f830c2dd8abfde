"""What is valid and may still not be meant: a case that checks nothing, messages not compared."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import KeyPath
from evalcase.resolve.findings import Findings

ADVICE = ("nothing-to-grade", "not-compared")


def advise(data: dict[str, Any], path: KeyPath, expected_at: KeyPath, findings: Findings) -> None:
    """Look over a case that has no errors. `expected_at` is where its expected output stands."""
    expected = data.get("expected_output")
    if expected is None:
        if not (data.get("graders") or "criteria" in data or "rubrics" in data or "skip" in data):
            message = "this case has nothing to grade, so it can never pass"
            hint = "add `expected_output`, `criteria`, `rubrics` or `graders`"
            findings.add("nothing-to-grade", path, message, hint)
    elif len(expected) > 1 and not (data.get("graders") or "criteria" in data or "rubrics" in data):
        _note_context(expected, expected_at, findings)


def _note_context(expected: list[dict[str, Any]], path: KeyPath, findings: Findings) -> None:
    """Point at the first expected message that the built-in comparison doesn't look at."""
    texts = [
        index
        for index, message in enumerate(expected)
        if message["role"] == "assistant" and message.get("content") is not None
    ]
    for index, message in enumerate(expected):
        if message["role"] != "assistant":
            reason = f"messages of the role `{message['role']}` are context and are not compared"
        elif message.get("content") is not None and index != texts[-1]:
            reason = "only the last assistant content is compared; this one is context"
        else:
            continue
        findings.add("not-compared", (*path, index), reason)
        return
