"""A case that knows where it comes from: for tests that are handed cases one by one."""

from __future__ import annotations

from typing import Any

from evalcase.model.case import Case, set_data
from evalcase.suites.placing import place_case


class PlacedCase(Case):
    """A case of a file. It is equal to the same case without one."""

    __slots__ = ("number", "suite")

    suite: str
    """The path of its file."""
    number: int
    """Which of its cases it is, from 0."""

    def __init__(self, data: dict[str, Any], suite: str, number: int) -> None:
        set_data(self, data)
        object.__setattr__(self, "suite", suite)
        object.__setattr__(self, "number", number)

    def __reduce__(self) -> tuple[Any, ...]:
        return PlacedCase, (self._data, self.suite, self.number)

    __hash__ = Case.__hash__

    @property
    def place(self) -> str:
        """The file and, as long as that is there, the line."""
        span = place_case(self.suite, self.number)
        return self.suite if span is None else f"{self.suite}:{span.line}"
