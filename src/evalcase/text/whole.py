"""Text that anybody can write down: half of a character, which JSON can hold, is replaced."""

from __future__ import annotations


def whole_text(text: str) -> str:
    """The same text, with `?` for each half of a character that has no other half."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
