"""A suite: the cases of one file, and the fields that the file has for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, overload

from msgspec import Struct

from evalcase.types.case import Case
from evalcase.types.problem import Problem, Span, unknown_case
from evalcase.types.value import JSON, are_same, copy_value

Placer: TypeAlias = Callable[[str, int], "Span | None"]
"""Finds the place of a case by the path of its file and its number from 0."""


class Suite(Struct, frozen=True, eq=False):
    """A valid suite. Iterating over it gives its cases. `load` and `loads` make one of a file or
    a text."""

    path: str
    """The file it comes from, as the user named it."""
    _about: dict[str, Any]
    cases: tuple[Case, ...] = ()
    warnings: tuple[Problem, ...] = ()
    _placer: Placer | None = None

    def __post_init__(self) -> None:
        if not isinstance(self._about.get("name"), str):
            raise ValueError(f"a Suite has a `name` among its fields, not {self._about!r:.60}")
        cases: object = self.cases
        if not isinstance(cases, tuple) or not all(isinstance(each, Case) for each in cases):
            raise TypeError(f"the cases of a Suite are a tuple of Case, not {self.cases!r:.60}")

    def __eq__(self, other: object) -> bool:
        """Two suites are equal if they say the same, from whatever file."""
        if not isinstance(other, Suite):
            return NotImplemented
        return are_same(self._about, other._about) and self.cases == other.cases

    def __hash__(self) -> int:
        return hash((self.name, len(self.cases)))

    @property
    def name(self) -> str:
        return str(self._about["name"])

    @property
    def description(self) -> str | None:
        return self._about.get("description")

    @property
    def metadata(self) -> dict[str, JSON]:
        return dict(copy_value(self._about.get("metadata", {})))

    def about(self) -> dict[str, Any]:
        """The suite's own fields (name, description, metadata), as fresh objects."""
        return {name: copy_value(value) for name, value in self._about.items()}

    def to_dict(self) -> dict[str, Any]:
        """The canonical form of the whole suite, as fresh objects."""
        return {**self.about(), "cases": [case.to_dict() for case in self.cases]}

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def __contains__(self, case: object) -> bool:
        """Whether there is this case, or a case with this id."""
        return any(case in (each.id, each) for each in self.cases)

    @overload
    def __getitem__(self, id: str | int) -> Case: ...
    @overload
    def __getitem__(self, id: slice) -> tuple[Case, ...]: ...
    def __getitem__(self, id: str | int | slice) -> Case | tuple[Case, ...]:
        """The case with this id; or by numbers, as in a list."""
        return self.cases[id] if isinstance(id, int | slice) else self.cases[self._find(id)]

    def _find(self, id: str) -> int:
        ids = [case.id for case in self.cases]
        if id not in ids:
            raise unknown_case(id, "the suite", ids)
        return ids.index(id)

    def place(self, id: str) -> Span | None:
        """Where a case stands in the file as it is now; None if the file is gone or was changed.
        Raise KeyError if there is no such case."""
        number = self._find(id)
        return None if self._placer is None else self._placer(self.path, number)

    def __repr__(self) -> str:
        cases = "1 case" if len(self.cases) == 1 else f"{len(self.cases)} cases"
        return f"<Suite {self.name!r}: {cases} from {self.path}>"
