"""What is wrong with two bounds, whatever they bound."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.types.options import OptionFault


def find_crossed(least: int | None, most: int | None) -> Iterator[OptionFault]:
    """That `min` is over `max`, if it is."""
    if least is not None and most is not None and least > most:
        yield OptionFault(("min",), f"`min` is {least}, and `max` only {most}")
