"""A suite: the cases of one file, and what the file says about all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, overload

from evalcase.model.case import Case
from evalcase.model.json_value import JSON, are_same, copy_value
from evalcase.model.nearest import unknown_case
from evalcase.model.problem import Problem, Span

Placer: TypeAlias = Callable[[str, int], "Span | None"]
"""Finds the place of a case by the path of its file, and its number from 0."""


def _check_given(path: object, about: object, cases: object) -> None:
    """Raise TypeError or ValueError for what makes no suite."""
    if not isinstance(path, str) or about is None:
        why = "load(path) and loads(text) make suites, and evaluate(…) takes cases as they are"
        raise TypeError(f"a Suite has a path, fields of its own and cases: {why}")
    if not isinstance(about, dict) or not isinstance(about.get("name"), str):
        raise ValueError(f"a Suite has a `name` among its fields, not {about!r:.60}")
    if not isinstance(cases, tuple) or not all(isinstance(case, Case) for case in cases):
        raise TypeError(f"the cases of a Suite are a tuple of Case, not {cases!r:.60}")


class Suite:
    """A valid suite. Iterating over it gives its cases."""

    __slots__ = ("_about", "_placer", "cases", "path", "warnings")

    _about: dict[str, Any]
    _placer: Placer | None
    cases: tuple[Case, ...]
    path: str
    """The file it comes from, as it was named."""
    warnings: tuple[Problem, ...]

    def __init__(
        self,
        path: str = "",
        about: dict[str, Any] | None = None,
        cases: tuple[Case, ...] = (),
        warnings: tuple[Problem, ...] = (),
        placer: Placer | None = None,
    ) -> None:
        """A suite of cases that are valid. `load` and `loads` make one of a file or a text."""
        _check_given(path, about, cases)
        for name, value in (
            ("path", path),
            ("_about", about),
            ("cases", cases),
            ("warnings", warnings),
            ("_placer", placer),
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Suite can't be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return Suite, (self.path, self._about, self.cases, self.warnings, self._placer)

    def __eq__(self, other: object) -> bool:
        """Equal if they say the same, wherever they were read from."""
        if not isinstance(other, Suite):
            return NotImplemented
        return are_same(self._about, other._about) and self.cases == other.cases

    def __hash__(self) -> int:
        return hash((self.name, len(self.cases)))

    @property
    def name(self) -> str:
        name: str = self._about["name"]
        return name

    @property
    def description(self) -> str | None:
        return self._about.get("description")

    @property
    def metadata(self) -> dict[str, JSON]:
        metadata: dict[str, JSON] = copy_value(self._about.get("metadata", {}))
        return metadata

    def to_dict(self) -> dict[str, Any]:
        """The canonical form of the whole suite: it says of each case all that holds for it."""
        return {**self.about(), "cases": [case.to_dict() for case in self.cases]}

    def about(self) -> dict[str, Any]:
        """The suite's own fields (name, description, metadata), as fresh objects."""
        about: dict[str, Any] = copy_value(self._about)
        return about

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
        for number, case in enumerate(self.cases):
            if case.id == id:
                return number
        raise unknown_case(id, "the suite", [case.id for case in self.cases])

    def place(self, id: str) -> Span | None:
        """Where a case stands in the file; None if the file is gone, or was changed since.

        It is looked up in the file when it is asked for. Raise KeyError if there is no such case.
        """
        number = self._find(id)
        return None if self._placer is None else self._placer(self.path, number)

    def __repr__(self) -> str:
        cases = "1 case" if len(self.cases) == 1 else f"{len(self.cases)} cases"
        return f"<Suite {self.name!r}: {cases} from {self.path}>"
