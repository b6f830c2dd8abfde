"""Two versions of a file in, a unified diff out."""

from __future__ import annotations

import os
from collections.abc import Iterator

from evalcase.report.terminal.style import Style, paint_text


def unified_diff(before: bytes, after: bytes, path: str) -> Iterator[bytes]:
    """The lines of a diff that `patch` and `git apply` take, byte for byte."""
    from difflib import diff_bytes
    from difflib import unified_diff as diff

    name = os.fsencode(os.path.normpath(path)).lstrip(b"/")
    # A tab ends a name that holds a space.
    end = b"\t" if b" " in name else b""
    old, new = b"a/" + name + end, b"b/" + name + end
    for line in diff_bytes(
        diff, _split_lines(before), _split_lines(after), old, new, lineterm=b"\n"
    ):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def paint_diff(line: str, style: Style) -> str:
    """A line of a diff in its colour: what comes, what goes, where it stands, and its file."""
    if line.startswith(("+++", "---")):
        return paint_text(line, style.place)
    return paint_text(line, {"+": style.good, "-": style.error, "@": style.hint}.get(line[:1], ""))


def _split_lines(data: bytes) -> list[bytes]:
    *lines, last = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([last] if last else [])
