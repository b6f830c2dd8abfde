"""Who played the users of conversations, and what that cost: by the marks of their trials, of which
most runs have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from evalcase.model.target import TargetVersion

AskedVersion = tuple[str, TargetVersion | None]
"""A target, and what it was changed to."""


class Played(NamedTuple):
    """Who played the user of a trial."""

    by: AskedVersion
    cost_usd: float | None


class PlayedUsers:
    """The users of the trials that count."""

    def __init__(self) -> None:
        self.by_mark: dict[int, Played] = {}

    def find(self, mark: int) -> Played | None:
        return self.by_mark.get(mark) if self.by_mark else None

    def put(self, mark: int, user: Played | None) -> None:
        """Take in who played the user of a trial; None where nobody did."""
        if user is not None:
            self.by_mark[mark] = user
        elif self.by_mark:
            self.by_mark.pop(mark, None)

    def cost_of(self, mark: int) -> float | None:
        found = self.find(mark)
        return None if found is None else found.cost_usd

    def find_mixed(self, asked: Iterable[AskedVersion]) -> tuple[str, ...]:
        """The targets of which several versions were asked, or played users."""
        versions = {*asked, *[each.by for each in self.by_mark.values()]}
        names = Counter(name for name, _ in versions)
        return tuple(sorted(name for name, count in names.items() if count > 1))
