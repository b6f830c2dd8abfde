"""A small terminal: what was written in, what a person would see out."""

import re

_ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Screen:
    """Knows what evalcase uses, folds long lines, and refuses any other control code."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]

    def write(self, text: str) -> None:
        at = 0
        while at < len(text):
            escape = _ESCAPE.match(text, at)
            if escape:
                self._obey(escape[1], escape[2])
                at = escape.end()
            else:
                self._put(text[at])
                at += 1

    def _put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self._down()
        else:
            assert char.isprintable(), f"control code {char!r}"
            if self.column == self.columns:
                self.column = 0
                self._down()
            row = self.rows[self.row]
            row.extend(" " * (self.column + 1 - len(row)))
            row[self.column] = char
            self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    def _obey(self, arguments: str, code: str) -> None:
        if code == "A":
            self.row -= int(arguments or 1)
            assert self.row >= 0
        elif code in "KJ":
            assert arguments in ("", "2") if code == "K" else arguments == ""
            del self.rows[self.row][0 if arguments else self.column :]
            if code == "J":
                del self.rows[self.row + 1 :]
        else:
            assert code == "m", f"escape sequence {arguments}{code}"
