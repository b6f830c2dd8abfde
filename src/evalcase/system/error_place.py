"""An error in, out comes the line of somebody's code that it comes from."""

from __future__ import annotations

import os
from traceback import extract_tb

_OWN = [os.path.join(os.path.dirname(__file__), name) for name in ("imports.py", "file_modules.py")]
"""What imports code for others."""


def place_of(error: BaseException) -> str:
    """` (file:line)` of the cause: the last step that is not the import machinery's own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    steps = [step for step in extract_tb(error.__traceback__) if not _is_machinery(step.filename)]
    return f" ({steps[-1].filename}:{steps[-1].lineno})" if steps else ""


def _is_machinery(filename: str) -> bool:
    return (
        filename.startswith("<frozen importlib")
        or filename in _OWN
        or filename.endswith(os.path.join("importlib", "__init__.py"))
    )
