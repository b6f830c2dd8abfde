"""The JSON value that a grader looks at: of the answer, or of the part that its `path` leads to."""

from __future__ import annotations

from collections.abc import Iterable

from evalcase.types.grader import Context
from evalcase.types.value import JSON
from evalcase.util.answers import say_silence, value_of_answer

_SMALL = 200
"""How many values can be held against each other, or to a schema, in a few milliseconds."""


def graded_value(context: Context) -> JSON:
    """The value. BadJsonError, where there is none, is for whoever calls graders: that fails."""
    return value_of_answer(context.answer) if context.part is None else context.part.value


def is_large(value: JSON) -> bool:
    """Whether there is so much in a value that to hold all of it to something may take longer than
    others can be kept waiting for."""
    waiting, count = [value], 0
    while waiting and count <= _SMALL:
        each = waiting.pop()
        inner: Iterable[JSON] = each.values() if isinstance(each, dict) else ()
        waiting += each if isinstance(each, list) else inner
        count += 1
    return count > _SMALL


def without_text(context: Context) -> str:
    """What a reason says of an answer that has no text, or only white space."""
    said = context.answer.last if context.part is None else [_as_said(context.text)]
    return say_silence(said, context.text)


def _as_said(text: str) -> dict[str, JSON]:
    return {"role": "assistant", "content": text}
