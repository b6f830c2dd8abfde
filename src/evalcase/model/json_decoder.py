"""How strictly a JSON text is decoded, wherever one is: the same key twice, NaN and numbers that no
float holds are faults."""

from __future__ import annotations

from json import JSONDecoder, dumps
from math import inf
from typing import NoReturn

from evalcase.model.json_value import JSON

_LONGEST_KEY = 80


class BadJsonError(ValueError):
    """The text is not JSON. The message says why, to go on after `it is not JSON: `."""


def _read_object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadJsonError(f"it has the key {_show_key(key)} twice")
            seen.add(key)
    return value


def _show_key(key: str) -> str:
    cut = key[:_LONGEST_KEY]
    return dumps(cut) + ("…" if len(cut) < len(key) else "")


def _read_float(text: str) -> float:
    number = float(text)
    if number in (inf, -inf):
        raise BadJsonError(f"the number {text:.40} is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise BadJsonError(f"{name} is not a JSON value")


# Made once: to make one takes longer than to read a row.
decode_strictly = JSONDecoder(
    object_pairs_hook=_read_object, parse_float=_read_float, parse_constant=_refuse_constant
).decode
"""The value of a text; ValueError or RecursionError if there is none."""
