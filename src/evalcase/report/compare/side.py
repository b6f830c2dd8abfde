"""One of the two sets of results that are compared, wherever they are kept; base, or head."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from evalcase.types.case import Case
from evalcase.types.question import TrialKey
from evalcase.types.result import Outcome, Result
from evalcase.types.value import Value


class KeptResults(Protocol):
    """Results that can be gone through, and looked up: a record, or a file of trials."""

    @property
    def targets(self) -> tuple[str, ...]: ...
    def results(self) -> Iterator[Result]: ...
    def outcome(self, result: Result, /) -> Outcome: ...
    def find_case(self, suite: str, case: str, /) -> Case | None: ...
    def find_result(self, key: TrialKey, /) -> Result | None: ...


class PlacedName(NamedTuple):
    """A case at a target, all of its repeats together. The suite is where it lies in its project,
    so that it doesn't matter from where it was named."""

    suite: str
    case: str
    target: str


class Side(Value, frozen=True):
    kept: KeptResults
    label: str
    """What it is called in a report."""
    place_of: Callable[[str], str] = str
    """Where a suite lies in its project, by the path that it was named with."""
    missing: str = ""
    """Why it is not complete; empty if it is."""
    mixed: tuple[str, ...] = ()
    """The targets of which there are answers from before and after a change."""
    whole_cases: bool = True
    """Whether it has all of each case, and not only what was asked and expected."""
    origin: str = ""
    """The run whose cases that did not pass these are."""
    choice: str = ""
    """Why this one was taken, where nobody named it and it is not the one that comes to mind."""
    part: str = ""
    """Which of the cases it is of, where it is not of all: the others were not asked for."""
