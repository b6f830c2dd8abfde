"""Paths into JSON: `choices.0.message.content`, or a JSON pointer, `/choices/0/message/content`.

A number counts items of a list from 0, or from its end: `messages.-1` is the last. A key with a dot
in it needs the pointer, where `~1` is `/` and `~0` is `~`.
"""

from __future__ import annotations

import re

from evalcase.model.json_value import JSON, kind

_INDEX = re.compile(r"-?\d{1,9}")


class MissingError(LookupError):
    """There is nothing at a path."""


class JsonPath:
    def __init__(self, text: str) -> None:
        """Raise ValueError where the text is no path."""
        self.text = text
        if text.startswith("/"):
            steps = [step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/")]
        else:
            steps = text.split(".")
            if not all(steps):
                raise ValueError("has an empty step; it is a path such as choices.0.message")
        self._steps = steps

    def find(self, value: JSON) -> JSON:
        """What is there. Raise MissingError, which says what there is instead."""
        for number, step in enumerate(self._steps):
            try:
                value = _step(value, step)
            except LookupError:
                where = ".".join(self._steps[:number]) or "the top"
                raise MissingError(
                    f"there is nothing at `{self.text}`: at {where} there is {_shown(value)}"
                ) from None
        return value


def _step(value: JSON, step: str) -> JSON:
    if isinstance(value, dict):
        return value[step]
    if isinstance(value, list) and _INDEX.fullmatch(step):
        return value[int(step)]
    raise LookupError(step)


def _shown(value: JSON) -> str:
    if isinstance(value, dict):
        names = ", ".join(f"`{name}`" for name in list(value)[:10])
        more = ", …" if len(value) > 10 else ""
        return f"a mapping with {names}{more}" if value else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return kind(value)
