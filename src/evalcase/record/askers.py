"""The targets that gave the results of a journal, each version of each by a small number."""

from __future__ import annotations

from collections.abc import Container

from evalcase.model.target import TargetVersion
from evalcase.record.played import AskedVersion

_MOST = 0xFFFF


class Askers:
    """Gives out numbers."""

    def __init__(self) -> None:
        self.versions: dict[str, TargetVersion] = {}
        """What targets were changed to, where they were: the last of it."""
        self._numbers: dict[AskedVersion, int] = {}
        self.now: dict[str, int] = {}
        """The numbers of targets as they are by now: there is one look at it for each result."""

    def number_of(self, target: str) -> int:
        """The number of a target as it is by now."""
        number = self.now.get(target)
        if number is None:
            version = target, self.versions.get(target)
            number = min(self._numbers.setdefault(version, len(self._numbers)), _MOST)
            self.now[target] = number
        return number

    def change(self, target: str, version: TargetVersion) -> None:
        """Take in that a target is another from here on."""
        self.versions[target] = version
        self.now.clear()

    def find(self, numbers: Container[int]) -> list[AskedVersion]:
        """The versions that have one of these numbers."""
        return [version for version, number in self._numbers.items() if number in numbers]

    def names(self) -> dict[int, str]:
        """The name of a target by each number."""
        return {number: name for (name, _), number in self._numbers.items()}
