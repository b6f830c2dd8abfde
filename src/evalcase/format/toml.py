"""TOML to values and positions: tomllib reads the values, and expressions find the positions. And
settings as lines of TOML."""

from __future__ import annotations

import re
import tomllib
from json import dumps

from msgspec.structs import replace

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
_SPACE = re.compile(r"[ \t\r\n]*(?:#[^\n]*[ \t\r\n]*)*")
"""Between statements, where a comment may stand."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_KEY = re.compile(f"{_SHORT_TEXT}|[A-Za-z0-9_-]+")
_KEYS = re.compile(rf"[ \t]*(?:(?:{_KEY.pattern})[ \t]*\.?[ \t]*)+")
_PART = re.compile(
    rf"{_LONG_TEXT}|{_SHORT_TEXT}|#[^\n]*|[\[\]{{}}\n]|[^\s\"'#\[\]{{}}]+", re.DOTALL
)
"""A part of a value, a comment or the end of a line."""
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
    """The positions of tables, keys and values in a text that `read_toml` has read. What stands in
    brackets has the position of the whole value."""
    root = table = Node(0, 0, {})
    at = _skip(_SPACE, text, 0)
    while at < len(text):
        start = at
        brackets = text.startswith("[", at) + text.startswith("[[", at)
        at = _skip(_KEYS, text, start + brackets)
        *outer, last = _KEY.finditer(text, start + brackets, at)
        name = _name_of(last)
        if not brackets:
            first, at = _find_value(text, at + 1)  # after the equals sign
            above = _find_table(table, outer, start, at)
            above.children[name] = Node(first, at, NO_CHILDREN, *last.span())
        else:
            at += brackets
            above = _find_table(root, outer, start, at)
            table = Node(start, at, {}, *last.span())
            if brackets == 2:
                items = above.children.setdefault(name, replace(table, children={}))
                table.key_start = -1
                items.children[len(items.children)] = table
            else:
                if name in above.children:  # headers of tables inside of it came before
                    table.children = above.children[name].children
                above.children[name] = table
        at = _skip(_SPACE, text, at)
    return root


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at


def _name_of(key: re.Match[str]) -> str:
    is_quoted = key[0][0] in "\"'"
    return str(tomllib.loads(f"key = {key[0]}")["key"]) if is_quoted else key[0]


def _find_value(text: str, at: int) -> tuple[int, int]:
    """Where a value starts and ends."""
    parts = _PART.finditer(text, at)
    start = end = depth = 0
    for part in parts:
        depth += (part[0] in ("[", "{")) - (part[0] in ("]", "}"))
        if part[0] == "\n" and depth == 0:
            break
        if part[0][0] not in "#\n":
            start, end = start or part.start(), part.end()
    return start, end


def _find_table(table: Node, keys: list[re.Match[str]], start: int, end: int) -> Node:
    """The table that keys lead to. One that isn't there yet is written between two offsets."""
    for key in keys:
        table = table.children.setdefault(_name_of(key), Node(start, end, {}, *key.span()))
        if table.is_list:  # the one that the last header of a list of tables began
            table = table.children[len(table.children) - 1]
    return table


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
