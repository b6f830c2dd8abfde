"""The places of keys and values in a TOML text that can be read: tomllib itself tells none.

It is made only when something must be pointed at. The value of a table stands where its header
does; what a dotted key makes on its way stands where that key does.
"""

from __future__ import annotations

import re
from typing import Any

from evalcase.model.problem import Span
from evalcase.read.lines import Lines
from evalcase.read.places import Branch, Leaf, Node

_SPACE = re.compile(r"[ \t\r\n]*(?:#[^\n]*[ \t\r\n]*)*")
"""Between statements and in arrays, where a line may end and a comment may stand."""
_GAP = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
LONG_TEXT = (
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3,5}'
    r"|'''[^']*(?:'(?!'')[^']*)*'{3,5}"
)
SHORT_TEXT = r'"(?:[^"\\\n]|\\.)*"|\x27[^\x27\n]*\x27'
_TEXT = re.compile(f"{LONG_TEXT}|{SHORT_TEXT}", re.DOTALL)
_PLAIN = re.compile(r"[^,\]}#\r\n]*[^,\]}#\r\n \t]")
"""A number, a boolean or a date, which may have a blank in it."""


def toml_places(text: str) -> Node:
    """The place of every key and value in a text that tomllib has read."""
    return TomlScanner(text).read()


class TomlScanner:
    """Goes through a text, and keeps the places of what it finds."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.at = 0
        self.root = Branch(self.lines.span(0, 0), {})

    def read(self) -> Branch:
        table = self.root
        self.skip(_SPACE)
        while self.at < len(self.text):
            table = self.read_header() if self.text[self.at] == "[" else self.read_pair(table)
            self.skip(_SPACE)
        return self.root

    def skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found is not None else self.at

    def read_header(self) -> Branch:
        """`[a.b]` or `[[a.b]]`, and the table that it begins."""
        start = self.at
        brackets = 2 if self.text.startswith("[[", start) else 1
        self.at += brackets
        keys = self.read_keys()
        self.at += brackets
        span = self.lines.span(start, self.at)
        self.note_header(tuple(key for key, _ in keys), span, brackets == 2)
        table = self.root
        for key, key_span in keys[:-1]:
            table = _find_last_table(_find_below(table, key, key_span, Branch(span, {})))
        key, key_span = keys[-1]
        if brackets == 1:
            return _find_last_table(_find_below(table, key, key_span, Branch(span, {}), again=True))
        items = _find_below(table, key, key_span, Branch(span, {}))
        item = Branch(span, {})
        items.children[len(items.children)] = (span, item)
        return item

    def read_keys(self) -> list[tuple[str, Span]]:
        """A key and those after its dots, each with its span."""
        keys = []
        while True:
            self.skip(_GAP)
            start = self.at
            self.skip(_TEXT if self.text[start] in "\"'" else _BARE_KEY)
            keys.append((_read_key(self.text[start : self.at]), self.lines.span(start, self.at)))
            self.skip(_GAP)
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def read_pair(self, table: Branch) -> Branch:
        """`a.b = value`; the table that the next pair belongs to is the same."""
        start = self.at
        keys = self.read_keys()
        self.at += 1  # the equals sign
        self.skip(_GAP)
        value = self.read_value()
        inner = table
        for key, key_span in keys[:-1]:
            way = Branch(self.lines.span(start, self.at), {})
            inner = _find_last_table(_find_below(inner, key, key_span, way))
        key, key_span = keys[-1]
        self.note_pair(inner, key, key_span)
        inner.children[key] = (key_span, value)
        return table

    def note_pair(self, table: Branch, key: str, span: Span) -> None:
        """Is told of each key and its table before its value is kept there."""

    def note_header(self, keys: tuple[str, ...], span: Span, is_item: bool) -> None:
        """Is told of each header, `is_item` for one of a list of tables."""

    def read_value(self) -> Node:
        start = self.at
        if self.text[start] == "[":
            return self.read_array()
        if self.text[start] == "{":
            return self.read_inline_table()
        self.skip(_TEXT if self.text[start] in "\"'" else _PLAIN)
        return Leaf(self.lines.span(start, self.at))

    def read_array(self) -> Branch:
        start = self.at
        children: dict[str | int, tuple[Span, Node]] = {}
        self.at += 1
        self.skip(_SPACE)
        while self.text[self.at] != "]":
            item = self.read_value()
            children[len(children)] = (item.span, item)
            self.skip(_SPACE)
            if self.text[self.at] == ",":
                self.at += 1
                self.skip(_SPACE)
        self.at += 1
        return Branch(self.lines.span(start, self.at), children)

    def read_inline_table(self) -> Branch:
        start = self.at
        table: dict[str | int, tuple[Span, Node]] = {}
        self.at += 1
        self.skip(_SPACE)
        while self.text[self.at] != "}":
            self.read_pair(Branch(self.lines.span(start, start), table))
            self.skip(_SPACE)
            if self.text[self.at] == ",":
                self.at += 1
                self.skip(_SPACE)
        self.at += 1
        return Branch(self.lines.span(start, self.at), table)


def _find_below(table: Branch, key: str, span: Span, new: Branch, again: bool = False) -> Branch:
    """The table or list of a key, made where there is none yet.

    A header names its own table `again` where headers of tables inside of it came before.
    """
    known = table.children.get(key)
    if known is None or not isinstance(known[1], Branch):
        table.children[key] = (span, new)
        return new
    if again:
        table.children[key] = (span, new._replace(children=known[1].children))
    return known[1]


def _find_last_table(table: Branch) -> Branch:
    """The table itself, or the one that the last header of a list of tables began."""
    children = table.children
    last = children.get(len(children) - 1) if children else None
    return last[1] if last is not None and isinstance(last[1], Branch) else table


def _read_key(source: str) -> str:
    if source[:1] not in ("'", '"'):
        return source
    if source[0] == "'":
        return source[1:-1]
    import tomllib

    values: dict[str, Any] = tomllib.loads(f"key = {source}")
    return str(values["key"])
