"""Paths into JSON: `choices.0.message.content`, or a JSON pointer, `/choices/0/message/content`.

A number counts items of a list from 0, or from its end: `messages.-1` is the last. `*` is every
item of a list, or every value of a mapping. A key with a dot in it needs the pointer, where `~1` is
`/` and `~0` is `~`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.path_steps import EVERY, is_index, path_steps


class MissingError(LookupError):
    """There is nothing at a path."""

    def __init__(self, message: str, step: str = "", found: JSON = None) -> None:
        super().__init__(message)
        self.step = step
        """The step that could not be taken, and what there is where it should have begun."""
        self.found = found


class Found(NamedTuple):
    """A value, and the path that leads to just this one."""

    path: str
    value: JSON


class JsonPath:
    def __init__(self, text: str) -> None:
        """Raise ValueError where the text is no path."""
        self.text = text
        self.steps = path_steps(text)

    def find(self, value: JSON) -> JSON:
        """What is there. Raise MissingError, which says what there is instead."""
        for number, step in enumerate(self.steps):
            try:
                value = _take_step(value, step)
            except LookupError:
                raise self._missing(self.steps[:number], value) from None
        return value

    def find_all(self, value: JSON) -> list[Found]:
        """Every value that the path leads to, at least one. Raise MissingError as `find` does,
        also if only one of several items lacks what is asked for."""
        if EVERY not in self.steps:
            return [Found(self.text, self.find(value))]
        reached: list[tuple[list[str], JSON]] = [([], value)]
        for step in self.steps:
            further: list[tuple[list[str], JSON]] = []
            for way, each in reached:
                try:
                    further += [([*way, key], item) for key, item in _take_steps(each, step)]
                except LookupError:
                    raise self._missing(way, each) from None
            if not further:
                raise MissingError(f"there are no items at `{self.text}`")
            reached = further
        return [Found(self._joined(way), each) for way, each in reached]

    def find_some(self, value: JSON) -> list[Found]:
        """The values that are there, where only some of several items may have one."""
        reached: list[tuple[list[str], JSON]] = [([], value)]
        for step in self.steps:
            further: list[tuple[list[str], JSON]] = []
            for way, each in reached:
                with suppress(LookupError):
                    further += [([*way, key], item) for key, item in _take_steps(each, step)]
            reached = further
        return [Found(self._joined(way), each) for way, each in reached]

    def _missing(self, way: Sequence[str], value: JSON) -> MissingError:
        where = ".".join(way) or "the top"
        message = f"there is nothing at `{self.text}`: at {where} there is {_describe_value(value)}"
        return MissingError(message, self.steps[len(way)], value)

    def _joined(self, way: Sequence[str]) -> str:
        if not self.text.startswith("/"):
            return ".".join(way)
        return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in way)


def _take_steps(value: JSON, step: str) -> Iterator[tuple[str, JSON]]:
    if step != EVERY:
        return iter([(step, _take_step(value, step))])
    if isinstance(value, dict):
        return iter(value.items())
    if isinstance(value, list):
        return ((str(number), item) for number, item in enumerate(value))
    raise LookupError(step)


def _take_step(value: JSON, step: str) -> JSON:
    if isinstance(value, dict):
        return value[step]
    if isinstance(value, list) and (is_index(step) or _counts_from_end(step)):
        return value[int(step)]
    raise LookupError(step)


def _counts_from_end(step: str) -> bool:
    return step[:1] == "-" and step != "-0" and is_index(step[1:])


def _describe_value(value: JSON) -> str:
    if isinstance(value, dict):
        names = ", ".join(f"`{name}`" for name in list(value)[:10])
        more = ", …" if len(value) > 10 else ""
        return f"a mapping with {names}{more}" if value else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return describe_kind(value)
