"""Finds the cursor at a line and column, in YAML, JSON, JSONL or TOML."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evalcase.editor.cursor import NOWHERE, Cursor, Token, read_flow, read_scalar
from evalcase.editor.yaml_cursor import extend_cursor, find_in_yaml
from evalcase.format.positions import Format
from evalcase.types.value import JSON

_HEADER = re.compile(r"\s*\[+([^\[\]]*)\]+\s*(?:#.*)?$")
_KEYS = re.compile(r'"[^"]*"|\'[^\']*\'|[^\s."\']+')
_PAIR = re.compile(r"\s*((?:\"[^\"]*\"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:\"[^\"]*\"|[\w-]+))*)\s*=\s*")
_WORD = re.compile(r"[\w.:/-]*")


def find_in_toml(lines: Sequence[str], line: int, column: int) -> Cursor:
    """The cursor at a line and a column, both counted from 0."""
    if line >= len(lines) or "#" in lines[line][:column]:
        return NOWHERE
    text = lines[line]
    table, first = _table_above(lines, line)
    if text.lstrip().startswith("["):
        return NOWHERE
    fields = _read_fields(lines, first, line)
    pair = _PAIR.match(text)
    beside: list[dict[str, JSON] | None] = [{} for _ in table]
    if pair is None or column < pair.end(1) + 1:
        return Cursor(
            tuple(table), "key", _find_word(text, column, pair is not None), (*beside, fields)
        )
    keys = _read_keys(pair[1])
    path = (*table, *keys)
    beside += [fields, *({} for _ in keys[1:])]
    value = text[pair.end() :]
    token = _value_token(text, pair.end(), column)
    if value.startswith("["):
        index = text[pair.end() : column].count(",")
        return Cursor((*path, index), "item", token, (*beside, None, {}), in_flow=True)
    return Cursor(path, "value", token, (*beside, {}))


def _table_above(lines: Sequence[str], line: int) -> tuple[list[str], int]:
    """The keys of the header that holds for a line, and the line after it."""
    for number in range(line, -1, -1):
        found = _HEADER.match(lines[number])
        if found is not None:
            return _read_keys(found[1]), number + 1
    return [], 0


def _read_keys(text: str) -> list[str]:
    return [str(read_scalar(each)) if each[0] in "\"'" else each for each in _KEYS.findall(text)]


def _read_fields(lines: Sequence[str], first: int, without: int) -> dict[str, JSON]:
    fields: dict[str, JSON] = {}
    for number in range(first, len(lines)):
        if _HEADER.match(lines[number]):
            break
        pair = _PAIR.match(lines[number])
        if pair is not None and number != without:
            fields[_read_keys(pair[1])[0]] = read_scalar(lines[number][pair.end() :])
    return fields


def _find_word(text: str, column: int, has_equals: bool) -> Token:
    start = len(text) - len(text.lstrip())
    if column < start:
        return Token("", column, column)
    end = _WORD.match(text, start).end()  # type: ignore[union-attr]
    return Token(text[start:end], start, end, has_colon=has_equals)


def _value_token(text: str, start: int, column: int) -> Token:
    """The text in quotes that the cursor is in, or the word."""
    quote = max(text.rfind('"', start, column), text.rfind("'", start, column))
    opened = quote >= 0 and text[start:column].count(text[quote]) % 2 == 1
    if opened:
        closing = text.find(text[quote], column)
        end = closing + 1 if closing >= 0 else len(text.rstrip())
        return Token(text[quote:end], quote, end, text[quote])
    return (
        Token("", column, column)
        if column > start and text[start:column].strip()
        else Token(text[start:].strip(), start, start + len(text[start:].strip()))
    )


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
