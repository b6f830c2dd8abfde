"""Whether an answer is just the text that is expected: most that are right are, and it can be seen
without anything else."""

from __future__ import annotations

from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.grade import Score

SAME_TEXT = Score(1.0, "the text is equal")
"""What the built-in comparison says of it."""


def is_same_text(case: Case, answer: Answer) -> bool:
    """Whether one text is expected, and just that came: all that can be seen at a glance."""
    expected, said = case._data.get("expected_output", ()), answer.messages
    if len(expected) != 1 or len(said) != 1 or answer.truncated:
        return False
    left, right = expected[0], said[0]
    text = left.get("content")
    return (
        type(text) is str and text == right.get("content") and len(left) == 2 and len(right) == 2
        and left.get("role") == "assistant" and right.get("role") == "assistant"
    )  # fmt: skip
