"""The steps of an answer as a tree for people: what was called, how long it took, what failed."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.report.terminal.cells import wrap_text
from evalcase.report.terminal.style import Style, paint_text
from evalcase.types.answer import Answer
from evalcase.util.calls import tell_steps
from evalcase.util.text import make_visible

_STEP = 2


def step_lines(answer: Answer, width: int, style: Style) -> Iterator[str]:
    """Nothing where an answer has no steps."""
    if not answer.steps:
        return
    yield paint_text("steps", style.place)
    for depth, told in tell_steps(answer.steps, answer.steps_cut):
        indent = " " * _STEP * (1 + depth)
        for line in wrap_text(make_visible(told), max(width - len(indent), 20)):
            yield indent + line
