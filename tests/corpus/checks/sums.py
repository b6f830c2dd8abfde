"""One more, in a module below."""

from __future__ import annotations


def is_four(text: str) -> bool:
    return text == "4"
