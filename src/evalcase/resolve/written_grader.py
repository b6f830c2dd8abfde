"""A grader as somebody has written it: its name, its options, and where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from evalcase.model.finding import At, KeyPath


class WrittenGrader(NamedTuple):
    """A grader in any spelling: its name, its options, and where they are written."""

    name: str
    options: dict[str, Any]
    path: KeyPath
    """Of the grader."""
    below: KeyPath
    """Of its options, seen from there."""
    argument: str | None = None
    """The option that is written as the argument, which has the place of the name."""
    name_at: KeyPath = ()
    """Where the name is written, as a key or as a value."""
    argument_at: At = "value"
    written_as: Mapping[str, str] = MappingProxyType({})
    """Options of ours by the names that they are written under, where those are others."""

    def finding_at(self) -> tuple[KeyPath, At]:
        """Where its name is."""
        at_key = self.name_at and self.name_at != ("type",)
        return (*self.path, *self.name_at), "key" if at_key else "value"

    def place(self, path: KeyPath) -> KeyPath:
        """Where an option, or what is below it, is written."""
        if self.argument is not None and path[:1] == (self.argument,):
            return (*self.path, *self.name_at, *path[1:])
        own = tuple(self.written_as.get(str(name), name) for name in path[:1])
        return (*self.path, *self.below, *own, *path[1:])
