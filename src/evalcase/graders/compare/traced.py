"""The steps of an answer by the names of their spans: as calls, and by how long they took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalcase.errors import EvalcaseError
from evalcase.graders.compare.call_match import Call
from evalcase.model.answer import Answer
from evalcase.model.option import option
from evalcase.model.shape import Text
from evalcase.model.step import Step

_UNTRACED = (
    "the answer has no steps: they come from traces, by the target `otlp` or by `trace = true`"
)


def steps_option(what: str) -> Any:  # noqa: ANN401 - as `option` itself
    """The option of a grader by which it looks at steps."""
    return option(
        Text("a name of spans"),
        f"{what} the steps whose span has this name; `*` and `?` are wildcards.",
        default=None, example="chat *", elsewhere=("step", "span", "spans", "span_name"),
    )  # fmt: skip


def steps_like(answer: Answer, name: str) -> list[Step]:
    """The steps of a name. Raise EvalcaseError where not all steps are known."""
    if not answer.steps:
        raise EvalcaseError(_UNTRACED)
    if answer.steps_cut:
        raise EvalcaseError(f"not all steps are kept: there were {answer.steps_cut:,} more")
    return [step for step in answer.steps if step.fits(name)]


def calls_of_steps(steps: Sequence[Step], *, whole: bool = True) -> list[Call]:
    """Steps as calls: of tools by the names of those, of others by the names of their spans. Raise
    EvalcaseError where all that they were given has to be known, and isn't."""
    for step in steps:
        if whole and step.is_cut:
            raise EvalcaseError(f"the step `{step.name}` was given more than is kept of it")
    return [Call(step.tool or step.name, step.input) for step in steps]
