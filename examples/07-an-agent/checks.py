"""How answers of the shop assistant are graded, beside what is expected of them."""

from __future__ import annotations


async def is_short(text: str) -> tuple[float, str]:
    """A grader: one point for up to ten words, less for more."""
    words = len(text.split())
    return min(1.0, 10 / max(1, words)), f"{words} words"
