"""Looks up the name or value at a position: the sentence of its declaration, the case that has it,
and its definition."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from evalcase.config.config import Config
from evalcase.editor.cursor import Cursor, read_scalar
from evalcase.editor.schema import SchemaWalk
from evalcase.format.writer import write_yaml
from evalcase.types.case import Case
from evalcase.types.problem import KeyPath
from evalcase.types.value import JSON
from evalcase.util.code import find_definition
from evalcase.util.project import attachments_in
from evalcase.util.text import make_visible


def explain_cursor(cursor: Cursor, walk: SchemaWalk) -> tuple[str, KeyPath] | None:
    """The sentence about the name or value at a cursor, and its path."""
    token = cursor.token
    if cursor.slot == "text" or not token.text:
        return None
    name = str(read_scalar(token.text)) if token.quote else token.text
    if cursor.slot == "key" or token.has_colon:
        about = walk.about_field(walk.parts_at(cursor, {**cursor.fields, name: {}}), name)
        return about, (*cursor.path, name)
    return _about_value(cursor, walk, read_scalar(token.text)), cursor.path


def _about_value(cursor: Cursor, walk: SchemaWalk, value: JSON) -> str:
    """What is said of a value that is listed; else of the field that holds it."""
    parts = walk.parts_at(cursor, value)
    for part in parts:
        pattern = part.get("pattern")
        is_like = pattern and isinstance(value, str) and re.search(pattern, value)
        if "description" in part and (part["const"] == value if "const" in part else is_like):
            return str(part["description"])
    return walk.about(parts)


_MOST_LINES = 60


def show_case(case: Case) -> str:
    """The canonical form of a case in Markdown, as `evalcase show` prints it."""
    lines = "".join(write_yaml(case.to_dict())).rstrip("\n").split("\n")
    more = len(lines) - _MOST_LINES
    if more > 0:
        lines = [*lines[:_MOST_LINES], f"# … {more:,} more lines"]
    longest = max(map(len, re.findall("`+", "\n".join(lines))), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}yaml", *map(make_visible, lines), fence])


_REFERENCE = re.compile(r"(?:\./)?[\w./-]+:[^\W\d][\w.]*")


class Definition(NamedTuple):
    """A place in a file: its line and column count from 0, in code points."""

    path: str
    line: int
    column: int


def locate_definition(cursor: Cursor, path: str, config: Config) -> Definition | None:
    """Where the file, function or target that is named at a cursor is defined."""
    if cursor.slot == "text" or not cursor.token.text:
        return None
    name = read_scalar(cursor.token.text)
    if not isinstance(name, str) or "\n" in name:
        return None
    is_name = cursor.path[-1:] in (("target",), ("kind",)) or cursor.path[-2:-1] == ("targets",)
    if is_name and name in config.targets:
        return _of_target(name, config)
    attachments = attachments_in(os.path.dirname(path), config.root)
    if (found := _of_code(name, config.root)) is not None or not 0 < len(name) <= 1000:
        return found
    files = (attachments.find(name), attachments.find_from_root(name))
    return next((Definition(each, 0, 0) for each in files if isinstance(each, str)), None)


def _of_target(name: str, config: Config) -> Definition | None:
    """The function of a target that is one, else its table in the configuration."""
    function = config.targets[name].get("function")
    if isinstance(function, str) and (found := _of_code(function, config.root)) is not None:
        return found
    if config.source.document is None or config.path is None:
        return None
    steps = (*config.source.table, "targets", name)
    span = config.source.document.positions.span(steps, "key")
    return Definition(config.path, span.line - 1, span.column - 1)


def _of_code(name: str, root: str) -> Definition | None:
    reference = name.removeprefix("python:")
    if not _REFERENCE.fullmatch(reference):
        return None
    found = find_definition(reference, root)
    return None if found is None else Definition(found[0], found[1] - 1, found[2])
