"""Finds the cursor in YAML by lines and their indentation: a text that is being written can seldom
be parsed, and a large one would take too long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, field

from evalcase.editor.cursor import NOWHERE, Cursor, CursorSlot, Flow, Token, read_flow, read_scalar
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


class Level(Struct):
    """A step on the way to a line: a key of a mapping, or an item of a list."""

    column: int
    key: str | None
    """None for the item of a list."""
    index: int = 0
    fields: dict[str, JSON] = field(default_factory=dict)
    """The mapping that the key belongs to, as far as it is known."""
    rest: str = ""
    """What stands behind it on its own line."""
    line: int = 0
    rest_column: int = 0

    @property
    def opens_bracket(self) -> bool:
        return self.rest[:1] in ("[", "{")

    @property
    def begins_text(self) -> bool:
        return self.rest[:1] in ("|", ">")


def level_of(knot: Knot, row: YamlRow, line: int) -> Level:
    """The level that a dash or a key of a row begins."""
    is_last = knot is row.knots[-1]
    fields = {} if knot.key is None else {knot.key: row.value}
    rest = row.rest if is_last else ""
    return Level(knot.column, knot.key, 0, fields, rest, line, row.rest_column)


def climb_levels(lines: Sequence[str], line: int, start: Level) -> list[Level] | None:
    """The levels above one that begins at a line, outermost first; None where all that is a part
    of some text. The start learns its place in its list, or what is beside it."""
    ascent = _Ascent(start)
    for number in range(line - 1, -1, -1):
        text = lines[number]
        if text.startswith("---"):
            break
        if indent_of(text) > ascent.current.column or is_blank(text):
            continue
        ascent.take(read_row(text), number)
        if ascent.levels and ascent.levels[0].begins_text:
            return None
    return ascent.levels


class _Ascent:
    def __init__(self, start: Level) -> None:
        self.current = start
        self.levels: list[Level] = []

    def take(self, row: YamlRow, line: int) -> None:
        """Go past a row: its dashes and keys are beside the current level, above it, or neither."""
        for knot in reversed(row.knots):
            if knot.column > self.current.column:
                continue
            if knot.column < self.current.column or (
                knot.key is not None and self.current.key is None
            ):
                self.current = level_of(knot, row, line)
                self.levels.insert(0, self.current)
            elif knot.key is None and self.current.key is None:
                self.current.index += 1
            elif knot.key is not None:
                self.current.fields.setdefault(knot.key, row.value)


def look_below(lines: Sequence[str], line: int, levels: Sequence[Level]) -> None:
    """Add what stands below a line to the mappings that are still open there."""
    left = [each for each in levels if each.key is not None]
    for number in range(line + 1, len(lines)):
        if not left:
            return
        text = lines[number]
        indent = indent_of(text)
        if indent > left[-1].column or is_blank(text):
            continue
        while left and indent < left[-1].column:
            left.pop()
        if left and indent == left[-1].column:
            row = read_row(text)
            if row.key is not None and len(row.knots) == 1:
                left[-1].fields.setdefault(row.key, row.value)


def find_in_yaml(lines: Sequence[str], line: int, column: int) -> Cursor:
    """The cursor at a line and a column, both counted from 0."""
    text = lines[line] if line < len(lines) else "---"
    if text.startswith(("---", "...", "%")) or _is_in_comment(text, column):
        return NOWHERE
    row = read_row(text)
    slot, token = _stand_on(row, text, column)
    here = _levels_before(row, line, column)
    begun = Level(_find_margin(row, text, column), "")
    above = climb_levels(lines, line, here[0] if here else begun)
    if above is None:
        return NOWHERE
    levels = [*above, *here]
    for number, level in enumerate(levels):
        if level.opens_bracket and (level.line < line or column > level.rest_column):
            return _find_in_flow(lines, line, column, levels[: number + 1])
    if _is_in_text(levels, bool(here), slot):
        return NOWHERE
    if slot == "item":
        begun = Level(token.start, "")
    if slot == "value":
        begun = Level(len(text), None)
    look_below(lines, line, [*levels, begun])
    return _make_cursor(levels, slot, token, begun.fields)


def _make_cursor(
    levels: Sequence[Level], slot: CursorSlot, token: Token, inner: dict[str, JSON]
) -> Cursor:
    path = tuple(each.index if each.key is None else each.key for each in levels)
    beside = [None if each.key is None else each.fields for each in levels]
    return Cursor(path, slot, token, (*beside, inner))


def _is_in_comment(text: str, column: int) -> bool:
    before = text[:column]
    mark = before.rfind("#")
    if mark < 0 or (mark and not before[mark - 1].isspace()):
        return False
    return before[:mark].count('"') % 2 == 0 and before[:mark].count("'") % 2 == 0


def _levels_before(row: YamlRow, line: int, column: int) -> list[Level]:
    """The dashes and the key of the cursor's own line that are complete before it."""
    return [
        level_of(knot, row, line)
        for knot in row.knots
        if (knot.column < column if knot.key is None else row.key_end < column)
    ]


def _stand_on(row: YamlRow, text: str, column: int) -> tuple[CursorSlot, Token]:
    """What the line itself says of what is written at the cursor."""
    if row.key is not None and column > row.key_end:
        return "value", _find_token(text, row.rest_column, column)
    after_dash = any(knot.key is None and knot.column < column for knot in row.knots)
    slot: CursorSlot = "item" if after_dash else "key"
    if row.key is None:
        return slot, _find_token(text, row.rest_column, column)
    start = row.knots[-1].column
    return slot, Token(text[start : row.key_end], start, row.key_end, has_colon=True)


def _find_token(text: str, start: int, column: int) -> Token:
    """All that stands behind a colon or a dash, without the comment."""
    written = without_comment(text[start:])
    end = start + len(written)
    if column < start or (not text[start:column].strip() and end < column):
        return Token("", column, column)
    if end < column:
        return Token(text[start:column], start, column)
    quote = written[:1] if written[:1] in ("'", '"') else ""
    return Token(written, start, end, quote)


def _find_margin(row: YamlRow, text: str, column: int) -> int:
    """Where the mapping begins that a new key would belong to."""
    if row.knots:
        return row.knots[-1].column
    return indent_of(text) if text.strip() else column


def _is_in_text(levels: Sequence[Level], is_on_line: bool, slot: CursorSlot) -> bool:
    """Whether a line goes on with a text that was begun above it, or begins one itself."""
    if not levels:
        return False
    last = levels[-1]
    if is_on_line:
        return slot == "value" and last.begins_text
    rest = without_comment(last.rest)
    return bool(rest) and rest[0] not in "&!"


def _find_in_flow(lines: Sequence[str], line: int, column: int, levels: Sequence[Level]) -> Cursor:
    begun = levels[-1]
    text = "\n".join(lines[begun.line : line + 1])
    line_start = len(text) - len(lines[line])
    flow = read_flow(text, begun.rest_column, line_start + column, line_start)
    if flow is None:
        return NOWHERE
    look_below(lines, line, levels)
    return extend_cursor(_make_cursor(levels, "value", NOWHERE.token, {}), flow)


def extend_cursor(cursor: Cursor, flow: Flow) -> Cursor:
    """A cursor that goes on between brackets."""
    path, beside = list(cursor.path), list(cursor.beside[:-1])
    for frame in flow.frames[:-1]:
        path.append(frame.index if not frame.is_mapping else frame.key or "")
        beside.append(frame.fields if frame.is_mapping else None)
    last = flow.frames[-1]
    if flow.slot == "key":
        return Cursor(tuple(path), "key", flow.token, (*beside, last.fields), in_flow=True)
    path.append(last.index if not last.is_mapping else last.key or "")
    beside.append(last.fields if last.is_mapping else None)
    return Cursor(tuple(path), flow.slot, flow.token, (*beside, {}), in_flow=True)
