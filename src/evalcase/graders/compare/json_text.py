"""The JSON value that an answer in text stands for."""

from __future__ import annotations

from evalcase.model.json_value import JSON
from evalcase.text.strict_json import parse_json


def parse_answer(text: str) -> JSON:
    """The value of a text that is JSON, or one fenced block with JSON in it."""
    return parse_json(unfence(text))


def unfence(text: str) -> str:
    """The inside of a text that is one fenced block (``` or ~~~) as a whole; else the text."""
    text = text.strip()
    mark = text[:3]
    if mark not in ("```", "~~~"):
        return text
    fence = mark[0] * (len(text) - len(text.lstrip(mark[0])))
    _, line_end, inside = text.partition("\n")
    if line_end and inside.endswith(fence):
        return inside[: -len(fence)]
    return text
