"""A shop assistant that does not always say what it was asked. Rules stand in for the model."""

from __future__ import annotations

THINGS = "kettle lamp chair table clock radio mirror carpet vase shelf stool bench".split()


def answer(text: str) -> str:
    thing = text.rstrip("?").split()[-1]
    number = THINGS.index(thing)
    if "cost" in text:
        return f"A {thing} costs {20 + number} euros."
    if "return" in text:
        evasive = f"Returns of a {thing} are easy, and our friendly team is always happy to help!"
        return evasive if number % 2 else f"You can return a {thing} within 30 days."
    if "heavy" in text:
        return f"About {1 + number} kg." if number < 8 else "I don't know."
    return "Soon." if number % 2 else f"A {thing} is there in two days."
