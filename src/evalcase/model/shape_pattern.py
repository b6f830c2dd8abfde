"""The shape of an option that is a regular expression of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.shape import OptionFault, Plain, Text


class Pattern(Plain, frozen=True):
    """A pattern; where it goes wrong is said by the character."""

    @property
    def words(self) -> str:
        return "a pattern"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str) or not value:
            yield from Text("a pattern").faults(value, path)
            return
        why = object_to_pattern(value)
        if why is not None:
            yield OptionFault(
                path, f"`{path[-1]}` is not a pattern: {why}", _hint_at_pattern(value)
            )

    def schema(self) -> dict[str, JSON]:
        return {"type": "string", "minLength": 1}


def object_to_pattern(pattern: str) -> str | None:
    """Why a text is no pattern; None if it is one."""
    from warnings import catch_warnings, simplefilter

    try:
        with catch_warnings():
            simplefilter("ignore")  # what may mean something else in a later Python
            re.compile(pattern)
    except re.error as error:
        at = "" if error.pos is None else f" at character {error.pos + 1}"
        return f"{error.msg}{at}"
    except (OverflowError, RecursionError):
        return "it repeats too often, or is nested too deep"
    return None


def _hint_at_pattern(pattern: str) -> str | None:
    slashes = re.fullmatch(r"/(.+)/([a-z]*)", pattern)
    if slashes is None:
        return None
    with_case = ", with ignore_case: true" if "i" in slashes[2] else ""
    return f"a pattern is written without slashes: {slashes[1]}{with_case}"
