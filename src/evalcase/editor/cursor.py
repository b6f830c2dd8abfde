"""Where a cursor stands in the data that a text is about to become, whether or not it can be read
as it is: the path, what stands beside it on the way, and the piece of text that is being written.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from evalcase.types.problem import KeyPath
from evalcase.types.value import JSON

CursorSlot = Literal["key", "value", "item", "text"]
"""What can be written there: the name of a field, the value of one, an item of a list, which may
be either; or only text, of which nothing is known."""


class Token(NamedTuple):
    """The piece that a cursor stands in: its columns count code points from 0."""

    text: str
    start: int
    end: int
    quote: str = ""
    """How it begins, if it is in quotes."""
    has_colon: bool = False
    """Whether a colon follows, so that it is the name of a field for certain."""


class Cursor(NamedTuple):
    path: KeyPath
    """Of the mapping whose key is written, or of the value itself."""
    slot: CursorSlot
    token: Token
    beside: tuple[dict[str, JSON] | None, ...] = ()
    """For each node on the path, and the last: the other fields of a mapping; None for a list."""
    in_flow: bool = False
    """Whether it is between brackets, where a line may hold several fields."""

    def value(self, leaf: JSON) -> JSON:
        """The data around the cursor, as far as it is known, with a leaf at its own place. A list
        has the one item that leads there."""
        value = leaf
        for step, beside in zip(reversed(self.path), reversed(self.beside[:-1]), strict=True):
            value = [value] if isinstance(step, int) else {**(beside or {}), step: value}
        return value

    @property
    def fields(self) -> dict[str, JSON]:
        """What is written already of the mapping at the path."""
        return (self.beside[-1] if self.beside else None) or {}


NOWHERE = Cursor((), "text", Token("", 0, 0))


def value_below(value: JSON, step: str | int) -> JSON:
    """What `Cursor.value` has at a step of its path."""
    if isinstance(step, int):
        return value[0] if isinstance(value, list) and value else None
    return value.get(step) if isinstance(value, dict) else None
