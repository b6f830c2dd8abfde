"""Where a cursor stands in a YAML text, told by lines and their margins: a text that somebody is
writing can seldom be read as a whole, and a large one would take too long."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.editor.cursor import NOWHERE, Cursor, CursorSlot, Token
from evalcase.editor.flow import Flow, read_flow
from evalcase.editor.yaml_levels import Level, climb_levels, level_of, look_below
from evalcase.editor.yaml_rows import YamlRow, indent_of, read_row, without_comment
from evalcase.types.value import JSON


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
