"""A JSON-like value in, YAML for people out, which reads back as exactly that value.

Every choice is safe for YAML 1.1 and 1.2 alike and stays inside what libyaml reads, so a file
written here means the same to every loader. Comments and blank lines may be put between the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalcase.text.yaml_notes import NO_NOTES, Notes, comment_lines
from evalcase.text.yaml_scalar import literal_text, scalar_text, string_text

STEP = 2
LONGEST_SIMPLE_KEY = 1000
"""libyaml gives up on a `key:` whose colon is more than 1024 characters away."""

LONGEST_FLOW_ITEM = 24
LONGEST_FLOW_LIST = 72


class Inline(dict[str, Any]):
    """A mapping that is written on one line, `{a: 1, b: 2}`, where it is short."""

    __slots__ = ()


def write_yaml(value: object, notes: Notes = NO_NOTES) -> Iterator[str]:
    """Yield the text in chunks. TypeError or ValueError for what isn't a JSON value."""
    text = _on_the_line(value, 0, notes)
    if text is not None:
        yield from comment_lines(notes.above, 0)
        yield f"{text}\n"
        return
    before = ""
    for chunk in _write_whole(value, notes):
        # Text that ends in blank lines has its own, and one more would become part of it.
        if chunk != "\n" or not before.endswith("\n\n"):
            yield chunk
        before = "\n\n" if chunk == before[-1:] == "\n" else chunk


def _write_whole(value: object, notes: Notes) -> Iterator[str]:
    yield from comment_lines(notes.above, 0)
    yield from ("\n",) if notes.above else ()
    yield from _write_collection(value, 0, notes)


def _on_the_line(value: object, indent: int, notes: Notes) -> str | None:
    """What can start on the line of its key or dash; None for a collection in block style."""
    if isinstance(value, dict):
        if isinstance(value, Inline) and not notes.breaks:
            return _flow_mapping(value)
        return None if value else "{}"
    if isinstance(value, list):
        return None if notes.breaks else _flow_list(value)
    literal = literal_text(value, indent + STEP, STEP) if isinstance(value, str) else None
    return scalar_text(value) if literal is None else literal


def _flow_list(items: list[object]) -> str | None:
    if len(items) * 2 > LONGEST_FLOW_LIST or any(isinstance(i, (dict, list)) for i in items):
        return None
    texts = [scalar_text(item, in_flow=True) for item in items]
    text = f"[{', '.join(texts)}]"
    if len(text) > LONGEST_FLOW_LIST or max(map(len, texts), default=0) > LONGEST_FLOW_ITEM:
        return None
    # Text of several lines reads better as blocks, however short it is.
    return None if any(isinstance(item, str) and "\n" in item for item in items) else text


def _flow_mapping(value: dict[str, Any]) -> str | None:
    texts = []
    for key, item in value.items():
        text = _flow_list(item) if isinstance(item, list) else None
        if text is None and (isinstance(item, dict | list) or "\n" in str(item)):
            return None
        text = text or scalar_text(item, in_flow=True)
        texts.append(f"{scalar_text(key, in_flow=True)}: {text}")
    text = f"{{{', '.join(texts)}}}"
    return text if len(text) <= LONGEST_FLOW_LIST else None


def _write_collection(
    value: object, indent: int, notes: Notes, begun: bool = False
) -> Iterator[str]:
    """A block collection at column `indent`: of a new line, or of one that is `begun`."""
    if isinstance(value, dict):
        return _write_mapping(value, indent, notes, begun)
    assert isinstance(value, list)
    return _write_sequence(value, indent, notes, begun)


def _write_mapping(
    value: dict[object, object], indent: int, notes: Notes, begun: bool
) -> Iterator[str]:
    pad = "" if begun else " " * indent
    for key, item in value.items():
        inner = notes.inner.get(key, NO_NOTES) if notes.inner else NO_NOTES  # type: ignore[call-overload]
        if inner is not NO_NOTES and not begun:
            yield from ("\n",) if inner.blank else ()
            yield from comment_lines(inner.above, indent)
        yield pad + _write_key(key, indent)
        text = _on_the_line(item, indent, inner)
        if text is None:
            yield "\n"
            yield from _write_collection(item, indent + STEP, inner)
        else:
            yield f" {text}\n"
        pad, begun = " " * indent, False
    yield from comment_lines(notes.below, indent)


def _write_sequence(value: list[object], indent: int, notes: Notes, begun: bool) -> Iterator[str]:
    pad = "" if begun else " " * indent
    for number, item in enumerate(value):
        inner = notes.inner.get(number, NO_NOTES) if notes.inner else NO_NOTES
        text = _on_the_line(item, indent, inner)
        if not begun:
            yield from ("\n",) if notes.spaced and number else ()
            above = inner.leading(item) if text is None else inner.above
            yield from comment_lines(above, indent)
        yield f"{pad}- "
        if text is None:
            yield from _write_collection(item, indent + STEP, inner, begun=True)
        else:
            yield f"{text}\n"
        pad, begun = " " * indent, False
    yield from comment_lines(notes.below, indent)


def _write_key(key: object, indent: int) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key must be a string, not {type(key).__name__}")
    text = string_text(key)
    return f"{text}:" if len(text) <= LONGEST_SIMPLE_KEY else f"? {text}\n{' ' * indent}:"
