"""What a record has many of, as a list that nobody holds: each look at it reads the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")


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
        at = index if index >= 0 else len(self) + index
        for item in islice(self, at, None) if at >= 0 else ():
            return item
        raise IndexError(f"there are {len(self):,} {self._noun}, and none at {index}")

    def __repr__(self) -> str:
        return f"<{len(self):,} {self._noun} of a record>"
