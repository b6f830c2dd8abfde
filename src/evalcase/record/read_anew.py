"""What a record has many of, as a list that nobody holds: each look at it reads the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar, overload

from evalcase.errors import UnknownCaseError
from evalcase.model.nearest import unknown_case
from evalcase.model.outcome import CaseVerdict

T = TypeVar("T")
_SHOWN = 3


class ReadAnew(Sequence[T], Generic[T]):
    """Items that are read as one goes through them; a million take no memory."""

    def __init__(self, read: Callable[[], Iterator[T]], count: int, noun: str) -> None:
        """`read` gives all of them; `count` is how many there are, and `noun` what they are."""
        self._read = read
        self._count = count
        self._noun = noun

    def __iter__(self) -> Iterator[T]:
        return self._read()

    def __len__(self) -> int:
        return self._count  # whoever makes a list of them asks, and would read twice

    def __reversed__(self) -> Iterator[T]:
        return reversed(list(self))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return list(self)[index]
        _check_number(index, self._noun)
        at = index if index >= 0 else len(self) + index
        for item in islice(self, at, None) if at >= 0 else ():
            return item
        be = "is" if len(self) == 1 else "are"
        raise IndexError(f"there {be} {self._counted}, and none at {index}")

    def __repr__(self) -> str:
        return f"<{self._counted} of a record>"

    @property
    def _counted(self) -> str:
        return f"1 {self._noun[:-1]}" if len(self) == 1 else f"{len(self):,} {self._noun}"


def _check_number(index: object, noun: str) -> None:
    if not isinstance(index, int):
        these = f"[each for each in done.{noun} if each.key.case == ID] are those of a case"
        raise TypeError(f"{noun} are found by a number, not by {index!r:.60}; {these}")


class CasesReadAnew(ReadAnew[CaseVerdict]):
    """Cases of a run, which can also be found by their ids."""

    @overload
    def __getitem__(self, index: int | str) -> CaseVerdict: ...
    @overload
    def __getitem__(self, index: slice) -> list[CaseVerdict]: ...
    def __getitem__(self, index: int | str | slice) -> CaseVerdict | list[CaseVerdict]:
        if not isinstance(index, str):
            return super().__getitem__(index)
        found = [each for each in self if each.case == index]
        if len(found) == 1:
            return found[0]
        if not found:
            raise unknown_case(index, "the run", [each.case for each in self])
        where = ", ".join(f"{each.suite} at {each.target}" for each in found[:_SHOWN])
        raise UnknownCaseError(f"the run has {len(found)} cases {index!r}: {where}")
