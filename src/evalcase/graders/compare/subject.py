"""The JSON value that a grader looks at: of the answer, or of the part that its `path` leads to."""

from __future__ import annotations

from evalcase.model.grader import Context
from evalcase.model.json_value import JSON
from evalcase.text.answer_value import value_of_answer


def graded_value(context: Context) -> JSON:
    """The value. BadJsonError, where there is none, is for whoever calls graders: that fails."""
    return value_of_answer(context.answer) if context.part is None else context.part.value


def without_text(context: Context) -> str:
    """What a reason says of an answer that has no text."""
    if context.part is not None or context.answer.content is not None:
        return "an empty text"
    from evalcase.text.answer_value import but_calls

    return f"no text{but_calls(context.answer)}"
