"""The levels of a rubric that is met more or less: numbers from 0, each with what it means."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.shape import MapOf, OptionFault, Plain, Text


class Levels(Plain, frozen=True):
    """`{0: …, 1: …, 2: …}`: what an answer of each level is like, the best one last."""

    @property
    def words(self) -> str:
        return "a mapping of levels, such as {0: …, 1: …, 2: …}"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        wrong = list(MapOf(Text(), self.words).faults(value, path))
        if wrong:
            yield from wrong
        elif isinstance(value, dict) and set(value) != {str(each) for each in range(len(value))}:
            message = "levels are numbered from 0, without a gap"
            yield OptionFault(path, message, "write {0: …, 1: …}")
        elif isinstance(value, dict) and len(value) < 2:
            yield OptionFault(path, "there are at least two levels", "write {0: …, 1: …}")

    def schema(self) -> dict[str, JSON]:
        return {
            "type": "object", "required": ["0", "1"],
            "propertyNames": {"pattern": "^(0|[1-9][0-9]?)$"},
            "additionalProperties": {"type": "string", "minLength": 1},
        }  # fmt: skip
