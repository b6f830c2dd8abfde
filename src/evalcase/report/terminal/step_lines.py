"""The steps of an answer as a tree for people: what was called, how long it took, what failed."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.model.answer import Answer
from evalcase.report.terminal.cells import wrap
from evalcase.report.terminal.style import Style, paint
from evalcase.text.step_text import describe_step
from evalcase.text.visible import visible

_STEP = 2
_MOST_SHOWN = 60
_DEEPEST_SHOWN = 10


def step_lines(answer: Answer, width: int, style: Style) -> Iterator[str]:
    """Nothing where an answer has no steps."""
    if not answer.steps:
        return
    yield paint("steps", style.place)
    for step in answer.steps[:_MOST_SHOWN]:
        indent = " " * _STEP * (1 + min(step.depth, _DEEPEST_SHOWN))
        for line in wrap(visible(describe_step(step)), max(width - len(indent), 20)):
            yield indent + line
    left = len(answer.steps[_MOST_SHOWN:]) + answer.steps_cut
    if left:
        yield f"{' ' * _STEP}and {left:,} more"
