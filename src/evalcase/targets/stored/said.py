"""What a line of a file of answers says was answered, and what it has in place of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalcase.errors import TargetError
from evalcase.targets.reading.replies import put_together
from evalcase.types.problem import find_nearest
from evalcase.util.calls import CALLS
from evalcase.util.text import as_json

_ANSWERS = ("answer", "messages", "text")
_ELSEWHERE = frozenset({
    "output", "response", "completion", "reply", "content", "result", "prediction", "generation",
    "actual", "actual_output", "output_text", "output_messages", "message", "answer_text",
})  # fmt: skip
"""What other tools call an answer."""
_BESIDE = frozenset({
    "case", "id", "suite", "target", "repeat", "input", "question_hash", "turns", "said",
    "usage", "token_usage", "cost_usd", "duration_s", "duration_ms", "truncated", "scrubbed",
    "steps", "steps_cut", "ends_conversation", "error", *CALLS,
})  # fmt: skip
"""What is read beside an answer."""
_OF_REPORTS = frozenset({
    "verdict", "score", "expected_output", "grades", "failure", "cached", "earlier", "trace",
    "tags", "metadata", "conversation_id", "vars", "run", "run_status", "run_trials", "run_folder",
    "failed_of", "mixed", "repeats", "case_verdict", "pass_rate_needed", "answer_hash",
    "grading_hash", "ending", "user",
})  # fmt: skip
"""What else a report in JSONL has, which is of that run."""
_KNOWN = _BESIDE | _OF_REPORTS | {*_ANSWERS}
_NEAR = 0.8
_MOST_KEYS = 10


def find_said(row: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    """The answer of a row, with the calls that stand beside a text; None if it has neither. Raise
    ValueError if it has several: nobody knows which of them was given."""
    names = [name for name in _ANSWERS if row.get(name) is not None]
    if len(names) > 1:
        what = f"`{names[0]}` and `{names[1]}` are two answers"
        raise ValueError(f"{what}: leave one of them out")
    return put_together(row[names[0]] if names else None, row)


def refuse_failed(row: Mapping[str, Any]) -> None:
    """Raise TargetError where a row says that there was no answer, whatever stands beside that."""
    failure, error = row.get("failure"), row.get("error")
    if isinstance(failure, dict) and isinstance(failure.get("message"), str):
        raise TargetError(failure["message"], details={"recorded": failure})
    said = error or failure
    if said:
        text = said if isinstance(said, str) else as_json(said)
        raise TargetError(f"the line of the answer says: {text}")


def list_unread(row: Mapping[str, Any]) -> Iterable[str]:
    """The keys of a row that nobody reads."""
    return sorted(row.keys() - _KNOWN)


def refuse_misspelt(key: str) -> str:
    """What is said of such a key. Raise ValueError if it is nearly a name of calls, which would be
    missing without a word."""
    meant = find_nearest(key, _KNOWN, _NEAR)
    said = f"`{key}` is not read" + ("" if meant is None else f": did you mean `{meant}`?")
    if meant in CALLS:
        raise ValueError(said)
    return said


def describe_keys(row: Mapping[str, Any]) -> str:
    """What a row without an answer has, after what says that it has none."""
    named = [f"`{key}`" for key in row]
    listed = ", ".join(named[:_MOST_KEYS]) + (", …" if len(named) > _MOST_KEYS else "")
    what = f": its line has {listed}, and an answer is called `answer`, `text` or `messages`"
    meant = next((key for key in row if key in _ELSEWHERE and row[key] is not None), None)
    return what if meant is None else f"{what}; if `{meant}` is the answer, call it `answer`"
