"""The steps of an answer by the names of their spans: as calls, and by how long they took."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Meta

from evalcase.errors import EvalcaseError
from evalcase.graders.compare.call_match import Call
from evalcase.types.answer import Answer
from evalcase.types.message import Step
from evalcase.types.options import about

_UNTRACED = (
    "the answer has no steps: they come from traces, by the target `otlp` or by `trace = true`"
)


def about_steps(what: str) -> Meta:
    """Declares the option by which a grader looks at steps."""
    return about(
        f"{what} the steps whose span has this name; `*` and `?` are wildcards.",
        words="a name of spans", example="chat *", elsewhere=("step", "span", "spans", "span_name"),
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
