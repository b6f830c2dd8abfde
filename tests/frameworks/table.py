"""What a recipe is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Make: TypeAlias = Callable[[str], Any]
"""The address of a service to what a package returned, or a program printed."""


@dataclass(frozen=True)
class Recipe:
    file: str
    """What is made, a file of `tests/answers`: JSON, JSON lines or a stream of events."""
    sent: list[str]
    """Files of `tests/answers`, or of `wire`, in the order in which the service sends them."""
    make: Make
