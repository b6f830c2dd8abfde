"""Steps of an agent as lines for people: what was called, how long it took, what failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcase.model.step import Step
from evalcase.text.readable import arguments_text

_MOST_LISTED = 60
_DEEPEST_LISTED = 10
_LONGEST_ARGUMENTS = 120
_LONGEST_WORD = 80


def describe_step(step: Step) -> str:
    """One step, in a line of its own."""
    told = [step.name]
    if step.duration_s is not None:
        told.append(f"{step.duration_s:.2f} s")
    if step.input_tokens is not None or step.output_tokens is not None:
        counts = (step.input_tokens, step.output_tokens)
        told.append("{} tokens in, {} out".format(*(_write_count(each) for each in counts)))
    if isinstance(step.input, dict) and step.input:
        told.append(_cut_text(arguments_text(step.input)))
    if step.error is not None:
        told.append(f"failed: {step.error}" if step.error else "failed")
    return ", ".join(told)


def list_steps(steps: Sequence[Step], cut: int) -> list[str]:
    """A tree of steps, of which there were some more: a line each, those within others indented."""
    return ["  " * depth + line for depth, line in tell_steps(steps, cut)]


def tell_steps(steps: Sequence[Step], cut: int) -> Iterator[tuple[int, str]]:
    """The same, each with its depth in place of an indent."""
    for step in steps[:_MOST_LISTED]:
        yield min(step.depth, _DEEPEST_LISTED), describe_step(step)
    left = len(steps[_MOST_LISTED:]) + cut
    if left:
        yield 0, f"and {left:,} more"


def _write_count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _cut_text(text: str) -> str:
    """Cut between words where that takes little away: half a password can't be told from text."""
    if len(text) <= _LONGEST_ARGUMENTS:
        return text
    end = text.rfind(" ", _LONGEST_ARGUMENTS - _LONGEST_WORD, _LONGEST_ARGUMENTS + 1)
    return f"{text[: end + 1 or _LONGEST_ARGUMENTS]}…"
