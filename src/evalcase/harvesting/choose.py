"""Which traces are wanted: `--only errored`, `--only slow`, `--only KEY=VALUE`, `--sample N`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

from evalcase.tracing.otlp import TraceSpan
from evalcase.tracing.trace import Transcript
from evalcase.types.value import JSON
from evalcase.util.text import as_json

SLOWEST = 0.1
"""The share of traces that are slow: the slowest tenth."""

T = TypeVar("T")


def is_errored(told: Transcript) -> bool:
    """Whether a span of it failed, be it the first or any other."""
    return any(node.span.error is not None for node in told.nodes)


def slow_from(durations: Iterable[float | None]) -> float | None:
    """How long a trace has to take to be one of the slowest; None where nobody knows of any."""
    known = sorted((each for each in durations if each is not None), reverse=True)
    return known[max(1, round(len(known) * SLOWEST)) - 1] if known else None


def has_attribute(spans: Iterable[TraceSpan], key: str, value: str) -> bool:
    """Whether some span, or the program that it is of, has an attribute of a value."""
    return any(key in span.attributes and _as_text(span.attributes[key]) == value for span in spans)


def _as_text(value: JSON) -> str:
    """A text as it is, and anything else as JSON writes it."""
    return value if isinstance(value, str) else as_json(value)


def draw_items(items: Sequence[T], number: int | None, seed: int) -> list[T]:
    """So many of them, drawn by chance, in the order that they had."""
    if number is None or number >= len(items):
        return list(items)
    # Which cases are drawn is nothing to be kept secret.
    chosen = sorted(Random(seed).sample(range(len(items)), number))  # noqa: S311
    return [items[each] for each in chosen]
