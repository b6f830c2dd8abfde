"""Text for people: rich wraps, aligns and colours it for a width, and returns its lines.

Texts come from anyone. Control characters are spelt out, and nothing is read as markup.
"""

from __future__ import annotations

import io
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from rich.box import Box
from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from evalcase.config.config import Config
from evalcase.report.diff import LinePair, SideLine
from evalcase.util.text import defuse_line, in_ci, make_visible, name_blank

INDENT = 2
LABEL = 10
"""The width of the column of labels."""
MOST_SIDE_ROWS = 16
_TAB = 4
_NARROWEST_SIDE = 28
STYLES = {
    "error": "bold red", "warning": "bold yellow", "note": "bold cyan", "place": "bold",
    "dim": "dim", "hint": "cyan", "good": "bold green",
    "passed": "bold green", "failed": "bold red", "errored": "bold yellow",
    "ungraded": "bold yellow", "skipped": "dim",
}  # fmt: skip
_SIDE_BY_SIDE = Box("    \n  │ \n    \n  │ \n    \n    \n  │ \n    \n")
_COMMAND = re.compile(r"`(?:evalcase|pip) [^`]*`|(?<=: )(?:evalcase|pip) .*")
"""What a person types, in backquotes or after a colon to the end of the sentence."""

_WORDS = ("age", "name", "commit", "suite", "target")
"""Columns of words, by their heads."""

SeeSuite = Callable[[str], str]
"""How the path of a suite is written where a report is read."""


class Screen:
    """`width` is the room to the right of the `left` margin."""

    def __init__(self, width: int = 80, *, colour: bool = False, left: int = 0) -> None:
        self.width = width
        self.colour = colour
        self.left = left

    def inset(self, by: int = INDENT) -> Screen:
        return Screen(max(20, self.width - by), colour=self.colour, left=self.left + by)

    @cached_property
    def _console(self) -> Console:
        return Console(
            file=io.StringIO(), width=self.width, color_system="standard" if self.colour else None,
            force_terminal=self.colour, no_color=not self.colour, markup=False, highlight=False,
            emoji=False, legacy_windows=False, _environ={},
        )  # fmt: skip

    def paint(self, text: str, style: str) -> str:
        """A text, which can't steer the terminal, in a colour."""
        if not self.colour or not style or not text:
            return text
        parsed = Style.parse(STYLES.get(style, STYLES["warning"]))
        return parsed.render(text, color_system=ColorSystem.STANDARD)

    def line(self, text: str, style: str = "") -> str:
        return f"{'':{self.left}}{self.paint(text, style)}".rstrip()

    def wrap(self, text: str, width: int | None = None) -> list[str]:
        """Lines of at most so many cells, broken between words; a line of the text stays a line."""
        return list(map(self.line, self._break(text, width or self.width)))

    def _break(self, text: str, width: int) -> list[str]:
        rows: list[str] = []
        for line in spell(text).split("\n"):
            rows += [row.plain.rstrip() for row in Text(line).wrap(self._console, max(1, width))]
        return rows

    def flow(self, parts: Iterable[tuple[str, str]]) -> list[str]:
        texts = (Text(make_visible(text), STYLES.get(style, "")) for text, style in parts)
        return self.lines(Text(", ").join(texts))

    def lines(self, drawn: RenderableType) -> list[str]:
        with self._console.capture() as captured:
            self._console.print(drawn, crop=False)
        return list(map(self.line, captured.get().split("\n")[:-1]))

    def label(
        self, label: str, text: str, most: int | None = None, column: int = LABEL, style: str = ""
    ) -> Iterator[str]:
        """A text beside its label, in no more rows than `most`, and how many are left out."""
        rows = self._break(name_blank(text) or text, max(10, self.width - column))
        lead = self.paint(f"{cut(label, self.width - 1):<{column}}", "dim")
        if cell_len(label) >= column:
            lead += " "
            if len(rows) > 1 or cell_len(f"{label} {rows[0]}") > self.width:
                yield self.line(lead)
                lead = " " * column
        # One row more costs no more than to say that it is left out.
        shown = rows if most is None or len(rows) <= most + 1 else rows[:most]
        for row in shown:
            yield self.line(lead + self.paint(row, style))
            lead = " " * column
        if left := len(rows) - len(shown):
            more = cut(f"… {left:,} more lines", max(10, self.width - column))
            yield self.line(f"{lead}{self.paint(more, 'dim')}")

    def table(
        self, rows: Sequence[Sequence[str]], styles: Mapping[str, str] | None = None,
        narrowest: int = 10,
    ) -> list[str]:  # fmt: skip
        """Columns below a head, words to the left, numbers to the right. If they don't fit beside
        so many cells of the first, the last ones are left out. With `styles`, words are coloured by
        them."""
        sizes = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        while len(sizes) > 2 and min(sizes[0], narrowest) + _beside(sizes) > self.width:
            sizes.pop()
        table = Table.grid(padding=(0, 2, 0, 0))
        room = max(narrowest, self.width - _beside(sizes))
        table.add_column(no_wrap=True)
        for head in rows[0][1 : len(sizes)]:
            table.add_column(justify="left" if styles or head in _WORDS else "right", no_wrap=True)
        for number, row in enumerate(rows):
            words = [cut_middle(row[0], room), *map(make_visible, row[1 : len(sizes)])]
            cells = list(map(Text, words))
            for cell in cells if styles and self.colour and number else ():
                cell.stylize(STYLES.get((styles or {}).get(cell.plain, ""), ""))
            table.add_row(*cells, style="dim" if self.colour and not number else None)
        return self.lines(table)

    def note(self, text: str, most: int, *, dim: bool = False) -> Iterator[str]:
        """A sentence, or a line of a program, in so many rows at most."""
        rows = self._break(text, self.width) if most > 1 else [cut(text, self.width)]
        if len(rows) > most:
            rows = [*rows[: most - 1], cut(f"{rows[most - 1]} …", self.width)]
        yield from (self.line(row, "dim" if dim else "") for row in rows)

    def sides(
        self, pairs: Sequence[LinePair], labels: tuple[str, str] = ("expected", "got"),
        most: int = MOST_SIDE_ROWS,
    ) -> Iterator[str]:  # fmt: skip
        """Two texts side by side, their differences marked; one below the other where there is no
        room."""
        room = (self.width - 3) // 2
        if room < _NARROWEST_SIDE:
            for side, label in enumerate(labels):
                lines = [pair[side] for pair in pairs]
                text = "\n".join(line.text for line in lines if line is not None)
                yield from self.label(label, text, 3 * most // 4, style=("good", "error")[side])
            return
        table = Table(box=_SIDE_BY_SIDE, show_header=False, show_edge=False, pad_edge=False)
        table.add_column(min_width=LABEL, overflow="fold")
        table.add_column(overflow="fold")
        table.add_row(*(Text(label, "dim" if self.colour else "") for label in labels))
        for left, right in pairs:
            table.add_row(self._side(left, "good", room), self._side(right, "error", room))
        head, *rows = self.lines(table)
        shown = rows if len(rows) <= most + 1 else rows[:most]
        yield head
        yield from shown
        if left_out := len(rows) - len(shown):
            yield self.line(cut(f"… {left_out:,} more lines", self.width), "dim")

    def _side(self, line: SideLine | None, style: str, room: int) -> Text:
        """A line of one side; its differing part is coloured, or has carets below it."""
        if line is None:
            return Text("")
        before, inside = spell(line.text[: line.start]), spell(line.text[line.start : line.end])
        after = spell(line.text[line.end :])
        if self.colour:
            shown = Text(before + inside + after, STYLES["dim"] if line.note else "")
            shown.stylize(STYLES[style], len(before), len(before) + len(inside))
            return shown
        # Where all of it differs, carets would say nothing.
        marked = 0 < len(inside) < len(before + inside + after)
        carets = f"\n{' ' * cell_len(before)}{'^' * cell_len(inside)}" if marked else ""
        fits = cell_len(before + inside + after) <= room
        return Text(before + inside + after + (carets if fits else ""))


class Reader(NamedTuple):
    """The person who reads a report."""

    cwd: str
    """Where they are; `resume` works elsewhere."""
    config: Config
    screen: Screen = Screen()
    is_own: bool = True
    """Whether the record is their own, and may be resumed."""
    verbose: bool = False


def _beside(sizes: Sequence[int]) -> int:
    """The cells that the columns after the first take, with the gaps before them."""
    return sum(sizes[1:]) + 2 * len(sizes[1:])


def spell(text: str) -> str:
    """A text without tabs and control characters; line ends stay."""
    return "\n".join(map(make_visible, text.expandtabs(_TAB).split("\n")))


def cut(text: str, width: int) -> str:
    """The first line of a text in so many cells, with an ellipsis if there is more."""
    line, more, _ = text.partition("\n")
    shown = Text(make_visible(line[: 2 * width + 2].expandtabs(_TAB)) + ("…" if more else ""))
    shown.truncate(max(1, width), overflow="ellipsis")
    return shown.plain


def cut_middle(text: str, width: int) -> str:
    """A name in so many cells. What tells names apart is often at their end."""
    name = make_visible(text)
    if cell_len(name) <= width:
        return name
    head = max(0, width - 1) // 3
    end = set_cell_size(name[::-1], max(0, width - 1 - head))[::-1]
    return f"{set_cell_size(name, head)}…{end}"


def hang_text(text: str, width: int | None, *, indent: int = INDENT, taken: int = 0) -> list[str]:
    """Prose in rows of at most `width`, all but the first indented; one row without a width.

    The first row begins where `taken` cells are taken already. A word that is wider than a row
    stays whole, and so does a command: they are there to be copied.
    """
    if width is None or width == sys.maxsize:
        return [text]
    whole = _COMMAND.sub(lambda found: found[0].replace(" ", "\0"), text)
    first, *rows = textwrap.wrap(
        whole, max(1, width), initial_indent=" " * taken, subsequent_indent=" " * indent,
        break_long_words=False, break_on_hyphens=False,
    ) or [" " * taken]  # fmt: skip
    return [row.replace("\0", " ") for row in (first[taken:], *rows)]


def defuse_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines for people. Where a CI system reads along, none is a command to it."""
    return map(defuse_line, lines) if in_ci(os.environ) else iter(lines)


def seen_from(folder: str, path: str) -> str:
    """A path as one would write it in a folder that it is below; else the whole of it."""
    path = os.path.abspath(path)
    relative = os.path.relpath(path, folder)
    return path if relative.split(os.sep, 1)[0] == os.pardir else relative
