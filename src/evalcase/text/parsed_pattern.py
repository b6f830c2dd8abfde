"""A regular expression taken apart, as far as the standard library says how."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


class UnparsedError(ValueError):
    """It can't be taken apart here."""


def parse_pattern(pattern: str) -> Sequence[tuple[Any, Any]]:
    """The parts of a valid pattern, each a code with what is given to it. Raise UnparsedError."""
    # The parser has no public name, and may be another one some day.
    parser: Any = getattr(re, "_parser", None)
    try:
        parsed: Sequence[tuple[Any, Any]] = parser.parse(pattern)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise UnparsedError(str(error)) from None
    return parsed
