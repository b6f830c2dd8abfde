"""Whether a file of a traceback is nobody's own: of Python, or of a package that was installed."""

from __future__ import annotations

import re

_FOREIGN = re.compile(r"[/\\](?:(?:site|dist)-packages|lib[/\\]python3[^/\\]*)[/\\]|^<")


def is_foreign_file(path: str) -> bool:
    """By its path alone: it may be of another machine."""
    return _FOREIGN.search(path) is not None
