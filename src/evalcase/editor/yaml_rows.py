"""One line of YAML in block style: its dashes, its key, and what stands behind them."""

from __future__ import annotations

import re
from typing import NamedTuple

from evalcase.editor.scalar import read_scalar
from evalcase.types.value import JSON

_KEY = re.compile(
    r'("(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'|[^\s#&*!|>%@`"\'\[\]{},-](?:[^:#]|:(?!\s|$)|(?<!\s)#)*?'
    r"|-(?!\s)(?:[^:#]|:(?!\s|$)|(?<!\s)#)*?)[ \t]*:(?=\s|$)"
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")


class Knot(NamedTuple):
    """A dash, or a key, and its column."""

    column: int
    key: str | None
    """None for a dash."""


class YamlRow(NamedTuple):
    knots: tuple[Knot, ...]
    key_end: int
    """Where the key ends, before its colon; where the rest begins if there is none."""
    rest_column: int
    rest: str

    @property
    def key(self) -> str | None:
        return self.knots[-1].key if self.knots else None

    @property
    def value(self) -> JSON:
        """What its key holds as far as this line says; an empty mapping for whatever is below."""
        rest = without_comment(self.rest)
        if not rest or rest[0] in "|>":
            return {} if not rest else ""
        return [] if rest[0] == "[" else {} if rest[0] == "{" else read_scalar(rest)


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def is_blank(line: str) -> bool:
    """Whether a line says nothing: it is empty, a comment, or a mark between documents."""
    stripped = line.strip()
    return not stripped or stripped[0] == "#" or line.startswith(("---", "...", "%"))


def read_row(line: str) -> YamlRow:
    knots: list[Knot] = []
    at = indent_of(line)
    while line[at : at + 1] == "-" and line[at + 1 : at + 2] in ("", " "):
        knots.append(Knot(at, None))
        at += 1
        at += indent_of(line[at:])
    found = _KEY.match(line, at)
    if found is None:
        return YamlRow(tuple(knots), at, at, line[at:].rstrip())
    knots.append(Knot(at, str(read_scalar(found[1])) if found[1][0] in "\"'" else found[1]))
    rest = found.end() + indent_of(line[found.end() :])
    return YamlRow(tuple(knots), found.end(1), rest, line[rest:].rstrip())


def without_comment(rest: str) -> str:
    """What stands on a line, without the comment behind it."""
    if rest[:1] in ("'", '"'):
        return rest
    return _COMMENT.sub("", rest).strip()
