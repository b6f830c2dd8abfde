"""The steps of an answer as a tree for people: what was called, how long it took, what failed."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.model.answer import Answer
from evalcase.model.step import Step
from evalcase.report.terminal.cells import wrap
from evalcase.report.terminal.style import Style, paint
from evalcase.text.readable import arguments_text
from evalcase.text.visible import visible

_STEP = 2
_MOST_SHOWN = 60
_DEEPEST_SHOWN = 10
_LONGEST = 120


def step_lines(answer: Answer, width: int, style: Style) -> Iterator[str]:
    """Nothing where an answer has no steps."""
    if not answer.steps:
        return
    yield paint("steps", style.place)
    for step in answer.steps[:_MOST_SHOWN]:
        indent = " " * _STEP * (1 + min(step.depth, _DEEPEST_SHOWN))
        for line in wrap(_describe(step), max(width - len(indent), 20)):
            yield indent + line
    left = len(answer.steps[_MOST_SHOWN:]) + answer.steps_cut
    if left:
        yield f"{' ' * _STEP}and {left:,} more"


def _describe(step: Step) -> str:
    told = [visible(step.name)]
    if step.duration_s is not None:
        told.append(f"{step.duration_s:.2f} s")
    if step.input_tokens is not None or step.output_tokens is not None:
        counts = (step.input_tokens, step.output_tokens)
        told.append("{} tokens in, {} out".format(*(_count(each) for each in counts)))
    if isinstance(step.input, dict) and step.input:
        told.append(_cut(visible(arguments_text(step.input))))
    if step.error is not None:
        told.append(f"failed: {visible(step.error)}" if step.error else "failed")
    return ", ".join(told)


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
