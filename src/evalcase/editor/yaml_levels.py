"""The mappings and lists that a line of YAML in block style lies in, told by margins: from the line
upwards, and what is below it in those that are still open."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from evalcase.editor.yaml_rows import Knot, YamlRow, indent_of, is_blank, read_row
from evalcase.types.value import JSON


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
