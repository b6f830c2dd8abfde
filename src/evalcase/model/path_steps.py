"""A path into JSON as people write it, to its steps: `items.0.name`, or `/items/0/name`."""

from __future__ import annotations

EVERY = "*"
"""The step that stands for every item of a list, or every value of a mapping."""


def path_steps(text: str) -> list[str]:
    """The steps. Raise ValueError, whose message goes on after the name of the option."""
    if text.startswith("/"):
        return [step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/")]
    steps = text.split(".")
    if not all(steps):
        raise ValueError("has an empty step; it is a path such as choices.0.message")
    return steps
