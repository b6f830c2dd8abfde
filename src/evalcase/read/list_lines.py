"""The lines at which the items of a list begin, in a text that could be read: for whoever wants
those of all items, and nothing else of them."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from evalcase.read.fault import FatalFaultError
from evalcase.read.yaml_source import prepare_source

_WHOLE = frozenset({ScalarEvent, AliasEvent})
"""Values that have no other inside of them."""
_STARTS = frozenset({MappingStartEvent, SequenceStartEvent})


def find_list_lines(source: bytes, names: Container[str], most: int) -> list[int] | None:
    """The first lines of at most so many items of the list that a YAML text is, or that it has
    under one of `names`; else that of the mapping which it is.

    None where that can't be told at once: an alias or a merge may stand for the list, and the text
    may be another by now, and no YAML.
    """
    try:
        prepared = prepare_source(source)
        return _find_lines(prepared.events(CParser(prepared.data)), names, most)
    except (YAMLError, FatalFaultError):
        return None


def _find_lines(
    next_event: Callable[[], Any], names: Container[str], most: int
) -> list[int] | None:
    next_event()
    next_event()
    root = next_event()
    if type(root) is SequenceStartEvent:
        return _read_items(next_event, most)
    if type(root) is not MappingStartEvent:
        return None
    while type(key := next_event()) is ScalarEvent:
        value = next_event()
        if key.value in names:
            return _read_items(next_event, most) if type(value) is SequenceStartEvent else None
        if key.value == "<<":
            return None
        _skip_value(value, next_event)
    start: Any = root.start_mark
    return [start.line + 1] if type(key) is MappingEndEvent else None


def _read_items(next_event: Callable[[], Any], most: int) -> list[int]:
    lines: list[int] = []
    while len(lines) < most and type(event := next_event()) is not SequenceEndEvent:
        lines.append(event.start_mark.line + 1)
        _skip_value(event, next_event)
    return lines


def _skip_value(event: Any, next_event: Callable[[], Any]) -> None:
    """Go past the value that starts with an event."""
    depth = int(type(event) in _STARTS)
    while depth:
        kind = type(next_event())
        if kind not in _WHOLE:
            depth += 1 if kind in _STARTS else -1
