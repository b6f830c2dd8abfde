"""Graders that documents of the corpus name. Nobody calls them."""

from __future__ import annotations


def four(text: str) -> bool:
    return text == "4"


def polite(text: str) -> bool:
    return "please" in text
