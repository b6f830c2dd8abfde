"""Graders that documents of the corpus name. Nobody calls them."""

from __future__ import annotations


def four(text: str) -> bool:
    return text == "4"


def sum(text: str) -> bool:
    return text.isdecimal()


def rude(text: str) -> bool:
    return "no" in text


def yes(text: str) -> bool:
    return bool(text) or True


def no(text: str) -> bool:
    return not yes(text)
