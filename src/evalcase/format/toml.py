"""TOML to values and positions: tomllib reads the values, and a scanner finds the positions. And
settings as lines of TOML."""

from __future__ import annotations

import re
import tomllib
from json import dumps

from evalcase.format.json import Reading
from evalcase.format.positions import (
    NO_CHILDREN,
    FatalFaultError,
    Fault,
    Lines,
    Node,
    split_lines,
)
from evalcase.types.value import JSON, MAX_DEPTH, measure_depth

_LONG_TEXT = (
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3,5}'
    r"|'''[^']*(?:'(?!'')[^']*)*'{3,5}"
)
_SHORT_TEXT = r'"(?:[^"\\\n]|\\.)*"|\x27[^\x27\n]*\x27'
_TEXT = re.compile(f"{_LONG_TEXT}|{_SHORT_TEXT}", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*(?:#[^\n]*[ \t\r\n]*)*")
"""Between statements and in arrays, where a line may end and a comment may stand."""
_GAP = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}#\r\n]*[^,\]}#\r\n \t]")
"""A number, a boolean or a date, which may have a blank in it."""
_LONG_KEY = re.compile(
    r"(?:^|[{,])[ \t\[]*+(?:(?:[\w-]++|\x22[^\x22\n]*+\x22|'[^'\n]*+')[ \t]*+\.[ \t]*+)"
    f"{{{MAX_DEPTH}}}",
    re.MULTILINE,
)
"""A dotted key with too many parts: tomllib takes time by the square of them."""
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_UNCLOSED = ("Illegal character '\\n'", "Unterminated string", "Expected \"'")
"""How tomllib begins to say that a text has no closing quote."""


def read_toml(text: str) -> Reading:
    """Read one document. Every fault is raised."""
    if found := _LONG_KEY.search(text):
        message = f"a key in this line has more than {MAX_DEPTH} parts"
        raise FatalFaultError(Fault("too-deep", message, *found.span()))
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FatalFaultError(_explain_error(str(error), text)) from None
    except RecursionError:
        value = None
    except ValueError as error:
        raise FatalFaultError(Fault("syntax", f"a value can't be read: {error}", 0, 0)) from None
    if value is None or measure_depth(value, MAX_DEPTH) > MAX_DEPTH:
        raise FatalFaultError(Fault("too-deep", "values are nested too deep", 0, 0))
    return value, (), False


def _explain_error(said: str, text: str) -> Fault:
    """The fault behind a complaint of tomllib, which names its place at the end."""
    at = len(text)
    found = _PLACE.search(said)
    if found is not None:
        said = said[: found.start()]
        if found[1] is not None:
            at = Lines(text).offset(int(found[1]), int(found[2]))
    end = at + 1
    is_duplicate = said.startswith(("Cannot ", "Duplicate "))
    if is_duplicate or text[at : at + 1] in ("", "\r", "\n"):
        # A complaint about the end of a line, or about a whole statement, is about the line.
        start = text.rfind("\n", 0, at) + 1
        line = split_lines(text[start:])[0]
        at, end = start + len(line) - len(line.lstrip()), start + len(line)
    if is_duplicate:
        message = "this name, or the beginning of it, has a value already"
        hint = "did you mean `targets`?" if line.lstrip().startswith("[target.") else None
        return Fault("duplicate-key", message, at, end, hint)
    hint = "text goes in quotes" if said == "Invalid value" else None
    if said.startswith("Expected '='"):
        hint = "TOML is written as `name = value`"
    if said.startswith(_UNCLOSED):
        said, hint = "A text is not closed", "end it with the quote that it begins with"
    return Fault("syntax", f"this is not valid TOML: {said[:1].lower()}{said[1:]}", at, end, hint)


def compose_toml(text: str) -> Node:
    """The positions in a text that `read_toml` has read."""
    return _Composer(text).compose()


class _Composer:
    """Composes the positions in a text that tomllib has read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.root = Node(0, 0, {})

    def compose(self) -> Node:
        table = self.root
        self.skip(_SPACE)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.read_header()
            else:
                self.read_pair(table)
            self.skip(_SPACE)
        return self.root

    def skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found is not None else self.at

    def read_header(self) -> Node:
        """`[a.b]` or `[[a.b]]`, and the table that it begins."""
        start = self.at
        brackets = 2 if self.text.startswith("[[", start) else 1
        self.at += brackets
        *outer, (name, key) = self.read_keys()
        self.at += brackets
        new = Node(start, self.at, {}, key.start, key.end)
        table = self.find_table(self.root, outer, new)
        if brackets == 2:
            items = table.children.setdefault(name, Node(start, self.at, {}, key.start, key.end))
            new.key_start = -1
            items.children[len(items.children)] = new
            return new
        if name in table.children:  # headers of tables inside of it came before
            new.children = table.children[name].children
        table.children[name] = new
        return new

    def read_keys(self) -> list[tuple[str, Node]]:
        """A key and those after its dots."""
        keys = []
        while True:
            self.skip(_GAP)
            start = self.at
            self.skip(_TEXT if self.text[start] in "\"'" else _BARE_KEY)
            source = self.text[start : self.at]
            name = tomllib.loads(f"key = {source}")["key"] if source[:1] in ("'", '"') else source
            keys.append((str(name), Node(start, self.at, NO_CHILDREN)))
            self.skip(_GAP)
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def read_pair(self, table: Node) -> None:
        """`a.b = value`."""
        start = self.at
        *outer, (name, key) = self.read_keys()
        self.at += 1  # the equals sign
        self.skip(_GAP)
        value = self.read_value()
        value.key_start, value.key_end = key.start, key.end
        around = Node(start, self.at, NO_CHILDREN)
        self.find_table(table, outer, around).children[name] = value

    def find_table(self, table: Node, keys: list[tuple[str, Node]], around: Node) -> Node:
        """The table that keys lead to. One that isn't there yet is written at `around`."""
        for name, key in keys:
            new = Node(around.start, around.end, {}, key.start, key.end)
            table = table.children.setdefault(name, new)
            if table.is_list:  # the one that the last header of a list of tables began
                table = table.children[len(table.children) - 1]
        return table

    def read_value(self) -> Node:
        start, first = self.at, self.text[self.at]
        if first not in "[{":
            self.skip(_TEXT if first in "\"'" else _PLAIN)
            return Node(start, self.at, NO_CHILDREN)
        node = Node(start, start, {})
        self.at += 1
        self.skip(_SPACE)
        while self.text[self.at] not in "]}":
            if first == "{":
                self.read_pair(node)
            else:
                node.children[len(node.children)] = self.read_value()
            self.skip(_SPACE)
            if self.text[self.at] == ",":
                self.at += 1
                self.skip(_SPACE)
        self.at += 1
        node.end = self.at
        return node


# Writing


def write_setting(name: str, value: JSON) -> str:
    """`name = value`, on one line. TOML has no null: it is left out."""
    return f"{write_key(name)} = {_toml_text(value)}"


def write_key(name: str) -> str:
    """A name, in quotes if it needs them."""
    return name if _BARE_KEY.fullmatch(name) else _toml_text(name)


def _toml_text(value: JSON) -> str:
    if isinstance(value, dict):
        pairs = [write_setting(name, item) for name, item in value.items() if item is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_toml_text(item) for item in value if item is not None)}]"
    # JSON's escapes are TOML's, but for DEL, which JSON does not escape.
    return dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
