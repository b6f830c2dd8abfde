"""What a line of a file of answers says was answered, and what it has in place of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalcase.targets.reading.replies import put_together

_ANSWERS = ("answer", "messages", "text")
_ELSEWHERE = frozenset({
    "output", "response", "completion", "reply", "content", "result", "prediction", "generation",
    "actual", "actual_output", "output_text", "output_messages", "message", "answer_text",
})  # fmt: skip
"""What other tools call an answer."""
_MOST_KEYS = 10


def find_said(row: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    """The answer of a row, with the calls that stand beside a text; None if it has neither."""
    said = next((row[name] for name in _ANSWERS if row.get(name) is not None), None)
    return put_together(said, row)


def describe_keys(row: Mapping[str, Any]) -> str:
    """What a row without an answer has, after what says that it has none."""
    named = [f"`{key}`" for key in row]
    listed = ", ".join(named[:_MOST_KEYS]) + (", …" if len(named) > _MOST_KEYS else "")
    what = f": its line has {listed}, and an answer is called `answer`, `text` or `messages`"
    meant = next((key for key in row if key in _ELSEWHERE and row[key] is not None), None)
    return what if meant is None else f"{what}; if `{meant}` is the answer, call it `answer`"
