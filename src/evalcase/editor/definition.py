"""Where that lies which a name or a path in a file stands for: the file of an attachment, the
Python function of a target or a grader, the table of a target. Files are read, and never run."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from evalcase.config.config import Config
from evalcase.editor.cursors import find_cursor
from evalcase.editor.scalar import read_scalar
from evalcase.format.positions import Format
from evalcase.system.definitions import find_definition
from evalcase.util.project import attachments_in

_REFERENCE = re.compile(r"(?:\./)?[\w./-]+:[^\W\d][\w.]*")


class Definition(NamedTuple):
    """A place in a file: its line and column count from 0, in code points."""

    path: str
    line: int
    column: int


def locate_definition(
    lines: Sequence[str], format: Format | Literal["toml"], line: int, column: int, path: str,
    config: Config,
) -> Definition | None:  # fmt: skip
    """The place of what stands at a position; None if it names nothing that can be found."""
    cursor = find_cursor(lines, format, line, column)
    if cursor.slot == "text" or not cursor.token.text:
        return None
    name = read_scalar(cursor.token.text)
    if not isinstance(name, str) or "\n" in name:
        return None
    is_name = cursor.path[-1:] in (("target",), ("kind",)) or cursor.path[-2:-1] == ("targets",)
    if is_name and name in config.targets:
        return _of_target(name, config)
    return _of_code(name, config.root) or _of_file(name, path, config.root)


def _of_target(name: str, config: Config) -> Definition | None:
    """The function of a target that is one, else its table in the configuration."""
    function = config.targets[name].get("function")
    if isinstance(function, str) and (found := _of_code(function, config.root)) is not None:
        return found
    if config.source is None or config.source.document is None or config.path is None:
        return None
    steps = (*config.source.table, "targets", name)
    span = config.source.document.positions.span(steps, "key")
    return Definition(config.path, span.line - 1, span.column - 1)


def _of_code(name: str, root: str) -> Definition | None:
    reference = name.removeprefix("python:")
    if not _REFERENCE.fullmatch(reference):
        return None
    found = find_definition(reference, root)
    return None if found is None else Definition(found[0], found[1] - 1, found[2])


def _of_file(name: str, path: str, root: str) -> Definition | None:
    if not name or len(name) > 1000:
        return None
    attachments = attachments_in(os.path.dirname(path), root)
    for found in (attachments.find(name), attachments.find_from_root(name)):
        if isinstance(found, str):
            return Definition(found, 0, 0)
    return None
