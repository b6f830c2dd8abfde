"""`evalcase check --fix`: the files are written anew, and each edit is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from evalcase.cli.options import WrongUsageError
from evalcase.cli.terminal import style_for
from evalcase.format.migrate import Fixed, fix_file
from evalcase.format.source import STDIN, discover_files
from evalcase.report.terminal.style import Style, paint_text
from evalcase.util.files import write_atomically
from evalcase.util.text import make_visible, write_count

if TYPE_CHECKING:
    from evalcase.types.grader import Known


def fix_files(paths: Iterable[str], known: Known, talk: TextIO) -> None:
    """Mend every file that paths stand for, as far as one can."""
    paths = list(paths)
    if STDIN in paths:
        raise WrongUsageError("--fix needs files, not standard input")
    for path in discover_files(paths):
        fixed = fix_file(path, known) if isinstance(path, str) else None
        if fixed is not None and fixed.edits:
            talk.writelines(line + "\n" for line in _write_fixed(fixed, style_for(talk)))


def _write_fixed(fixed: Fixed, style: Style) -> Iterator[str]:
    path = paint_text(make_visible(fixed.path), style.place)
    try:
        write_atomically(fixed.path, fixed.after, before=fixed.before)
    except OSError as error:
        yield f"{path}: can't be written: {error.strerror or error}"
        return
    for span, old, new in fixed.edits:
        now = paint_text(make_visible(new), style.good) or "(nothing)"
        yield f"{path}:{span.line}:{span.column}: {make_visible(old)} → {now}"
    yield f"{path}: {write_count(len(fixed.edits), 'mistake')} fixed"
    yield ""
