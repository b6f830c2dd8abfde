"""The JSON value that an answer in text stands for."""

from __future__ import annotations

import json
from typing import NoReturn

from evalcase.graders.compare.excerpt import quote
from evalcase.graders.compare.json_difference import DEEPEST, too_deep
from evalcase.model.json_value import JSON

_TOO_DEEP = f"it is nested more than {DEEPEST} deep"


class NotJSONError(ValueError):
    """The text is not JSON; the message says why, to go on after `the answer is not JSON: `."""


def parse_json(text: str) -> JSON:
    """The value of a text that is JSON, or one fenced block with JSON in it."""
    try:
        value: JSON = json.loads(
            unfence(text), parse_constant=_refuse_constant, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise NotJSONError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except NotJSONError:
        raise
    except RecursionError:
        raise NotJSONError(_TOO_DEEP) from None
    except ValueError:
        # The one that is left: Python reads no integer of more than 4,300 digits.
        raise NotJSONError("a number in it has too many digits") from None
    if too_deep(value):
        raise NotJSONError(_TOO_DEEP)
    return value


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


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    """Readers of JSON disagree on which of two equal keys counts, so it is no value to compare."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise NotJSONError(f"it has the key {quote(key)} twice")
            seen.add(key)
    return mapping


def _refuse_constant(name: str) -> NoReturn:
    raise NotJSONError(f"{name} is not a JSON value")
