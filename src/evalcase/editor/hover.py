"""What is shown when the mouse rests on a name or a value: the sentence of its declaration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from evalcase.editor.cursor import Cursor
from evalcase.editor.cursors import find_cursor
from evalcase.editor.scalar import read_scalar
from evalcase.editor.schema_walk import SchemaWalk
from evalcase.format.fields import CASE_CONTAINERS
from evalcase.format.positions import Format
from evalcase.types.problem import KeyPath
from evalcase.types.value import JSON


class Explained(NamedTuple):
    """A sentence, and the columns of what it is about."""

    about: str
    start: int
    end: int
    path: KeyPath
    """Of the field or value itself."""


def explain_place(
    lines: Sequence[str], format: Format | Literal["toml"], line: int, column: int,
    walk: SchemaWalk,
) -> Explained | None:  # fmt: skip
    """What is said of what stands at a position; None for what nothing is said of."""
    cursor = find_cursor(lines, format, line, column)
    token = cursor.token
    if cursor.slot == "text" or not token.text:
        return None
    name = str(read_scalar(token.text)) if token.quote else token.text
    if cursor.slot == "key" or token.has_colon:
        about = walk.about_field(walk.parts_at(cursor, {**cursor.fields, name: {}}), name)
        path: KeyPath = (*cursor.path, name)
    else:
        about, path = _about_value(cursor, walk, read_scalar(token.text)), cursor.path
    return Explained(about, token.start, token.end, path)


def _about_value(cursor: Cursor, walk: SchemaWalk, value: JSON) -> str:
    """What is said of a value that is listed; else of the field that holds it."""
    parts = walk.parts_at(cursor, value)
    for part in parts:
        if "description" in part and _is_name_of(part, value):
            return str(part["description"])
    return walk.about(parts)


def _is_name_of(part: dict[str, Any], value: JSON) -> bool:
    if "const" in part:
        return bool(part["const"] == value)
    pattern = part.get("pattern")
    return isinstance(pattern, str) and isinstance(value, str) and bool(re.search(pattern, value))


def case_number(path: KeyPath, format: Format | Literal["toml"]) -> int | None:
    """Which case of its file a path leads into, counted from 0; None for none."""
    if format in ("jsonl", "toml"):
        return None
    if path and isinstance(path[0], int):
        return path[0]
    if len(path) > 1 and path[0] in CASE_CONTAINERS and isinstance(path[1], int):
        return path[1]
    return None
