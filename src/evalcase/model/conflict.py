"""Options that don't go with each other: methods of the class that declares them, marked as such.

    @conflict
    def _order(self) -> Iterator[OptionFault]:
        if self.min is not None and self.max is not None and self.min > self.max:
            yield OptionFault(("min",), "`min` is more than `max`")

Each is asked by itself, and only about options that are well: whoever reads another has nothing to
say, and nothing that is wrong for another reason hides it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from dataclasses import fields
from functools import lru_cache
from typing import Any, NoReturn

from evalcase.model.shape import OptionFault

_Method = Callable[[Any], Iterator[OptionFault]]


class Conflict:
    """A method that says which options don't go with each other."""

    __slots__ = ("ask",)

    def __init__(self, ask: _Method) -> None:
        self.ask = ask


def conflict(ask: _Method) -> Conflict:
    """Mark a method that says which options don't go with each other."""
    return Conflict(ask)


def find_conflicts(declared: type, held: dict[str, Any], unwell: Set[str]) -> Iterator[OptionFault]:
    """What the marked methods say of the fields that are `held`, and of those that nobody gave.

    `unwell` are fields of which something wrong is known, or that are missing: nobody reads them.
    """
    made = declared(**dict.fromkeys(unwell), **held)
    if unwell:
        made = _in_part(made, frozenset(unwell))
    for each in conflicts_of(declared):
        with suppress(_UnwellError):
            yield from each.ask(made)


@lru_cache(maxsize=256)
def conflicts_of(declared: type) -> tuple[Conflict, ...]:
    """The methods that a class and those above it have marked."""
    found: dict[str, object] = {}
    for each in reversed(declared.__mro__):
        found |= vars(each)
    return tuple(each for each in found.values() if isinstance(each, Conflict))


def _in_part(made: object, unwell: frozenset[str]) -> object:
    """The same, of which some fields can't be read."""
    whole: type = type(made)
    part: object = object.__new__(_part_of(whole, unwell))
    for each in fields(made):  # type: ignore[arg-type]
        if each.name not in unwell:
            object.__setattr__(part, each.name, getattr(made, each.name))
    return part


@lru_cache(maxsize=256)
def _part_of(declared: type, unwell: frozenset[str]) -> type:
    unreadable = dict.fromkeys(unwell, property(_refuse_reading))
    made: type = type(declared)(declared.__name__, (declared,), {"__slots__": (), **unreadable})
    return made


def _refuse_reading(_: object) -> NoReturn:
    raise _UnwellError


class _UnwellError(Exception):
    """Something that isn't well was to be read."""
