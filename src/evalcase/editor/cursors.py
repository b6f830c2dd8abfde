"""A text and a position to a cursor, by the format of the text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evalcase.editor.cursor import NOWHERE, Cursor
from evalcase.editor.flow import read_flow
from evalcase.editor.toml_cursor import find_in_toml
from evalcase.editor.yaml_cursor import extend_cursor, find_in_yaml
from evalcase.format.positions import Format

_BEGIN = re.compile(r"\s*[\[{]")


def find_cursor(lines: Sequence[str], format: Format | str, line: int, column: int) -> Cursor:
    """What a position, counted from 0, means in the lines of a text."""
    if format == "toml":
        return find_in_toml(lines, line, column)
    if format == "yaml":
        found = _BEGIN.match("\n".join(lines[:50]))
        return _in_json(lines, line, column) if found else find_in_yaml(lines, line, column)
    if format == "jsonl":
        return _in_json(lines[line : line + 1], 0, column)
    return _in_json(lines, line, column)


def _in_json(lines: Sequence[str], line: int, column: int) -> Cursor:
    text = "\n".join(lines)
    found = _BEGIN.match(text)
    if found is None or line >= len(lines):
        return NOWHERE
    line_start = sum(len(each) + 1 for each in lines[:line])
    flow = read_flow(text, found.end() - 1, line_start + column, line_start)
    if flow is None:
        return NOWHERE
    return extend_cursor(Cursor((), "value", NOWHERE.token, ({},)), flow)
