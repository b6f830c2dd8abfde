"""A path into JSON as people write it, to its steps: `items.0.name`, or `/items/0/name`."""

from __future__ import annotations

EVERY = "*"
"""The step that stands for every item of a list, or every value of a mapping."""


_MOST_DIGITS = 9


def is_index(step: str) -> bool:
    """Whether a step counts items of a list: a number from 0 as it is usually written, in ASCII and
    without zeros before it. Whatever else is a name, which no list has."""
    return (
        step.isascii() and step.isdecimal() and len(step) <= _MOST_DIGITS
        and (step == "0" or step[0] != "0")
    )  # fmt: skip


def path_steps(text: str) -> list[str]:
    """The steps. Raise ValueError, whose message goes on after the name of the option."""
    if text.startswith("/"):
        return [step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/")]
    steps = text.split(".")
    if not all(steps):
        raise ValueError("has an empty step; it is a path such as choices.0.message")
    return steps
