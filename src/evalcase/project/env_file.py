r"""A file of environment variables, for keys that are kept out of the shell's history.

    # a comment
    NAME=value                 to the end of the line; white space around it doesn't count
    export NAME=value          the same
    NAME='as it is'            over several lines, too
    NAME="a \"quoted\" text"   with \n, \t, \r, \\, \" and \$; over several lines, too

Nothing is replaced: `$HOME` is five characters. In a value without quotes ` #` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping

from evalcase.errors import ConfigError
from evalcase.system.files import read_file

_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS")
_MOST_BYTES = 10_000_000
_NAME = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*")
_QUOTED = (re.compile(r"'([^']*)'"), re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL))
_COMMENT = re.compile(r"[ \t]#")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "$": "$"}


def read_env_file(path: str) -> dict[str, str]:
    """The variables of a file. Raise ConfigError with the line that can't be read."""
    try:
        text = read_file(path, _MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines: dict[str, int] = {}
    variables: dict[str, str] = {}
    place, line, counted = 0, 1, 0
    while place < len(text):
        line += text.count("\n", counted, place)
        counted = place
        blank = _REST.match(text, place)
        if blank is not None:
            place = blank.end()
            continue
        name, value, place = _read_assignment(text, place, f"{path}:{line}")
        if name in lines:
            raise ConfigError(f"{path}:{line}: {name} is given before, in line {lines[name]}")
        lines[name], variables[name] = line, value
    return variables


def set_missing(environment: MutableMapping[str, str], variables: Mapping[str, str]) -> None:
    """Set variables that are not set already: what a person typed counts more than a file."""
    for name, value in variables.items():
        environment.setdefault(name, value)


def _read_assignment(text: str, place: int, where: str) -> tuple[str, str, int]:
    named = _NAME.match(text, place)
    if named is None:
        raise ConfigError(f"{where}: this is not NAME=value")
    value, end = _read_value(text, named.end())
    rest = _REST.match(text, end)
    if value is None or rest is None:
        raise ConfigError(f"{where}: the value of {named[1]} has a quote that is not closed")
    if "\0" in value:
        raise ConfigError(f"{where}: {named[1]} has a NUL character in it")
    return named[1], value, rest.end()


def _read_value(text: str, start: int) -> tuple[str | None, int]:
    """A value, and where it ends; None if it has a quote that is never closed."""
    mark = text[start : start + 1]
    if mark and mark in "'\"":
        found = _QUOTED[mark == '"'].match(text, start)
        if found is None:
            return None, start
        return _ESCAPE.sub(_unescape_character, found[1]) if mark == '"' else found[1], found.end()
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    comment = _COMMENT.search(text, start, line_end)
    value = text[start : comment.start() if comment else line_end].rstrip(" \t")
    return value, start + len(value)


def _unescape_character(match: re.Match[str]) -> str:
    # Other backslashes stay, as they do in a shell.
    return _ESCAPED.get(match[1], match[0])


def names_secret(name: str) -> bool:
    """Whether a variable of such a file is one that nobody wants to see: most are kept there for
    that."""
    return name.upper().endswith(_SECRET)
