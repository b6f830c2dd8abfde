"""The pages of the documentation that explain diagnostic codes."""

from __future__ import annotations

import os
from pathlib import Path

from evalcase.util.environment import PACKAGE

_FOLDERS = (
    os.path.join(PACKAGE, "diagnostics"),
    os.path.join(PACKAGE, "..", "..", "docs", "diagnostics"),
)
"""A wheel has the pages inside the package, a clone in its docs."""


def page_path(code: str) -> str | None:
    """The file of the page about a code; None if it is not installed."""
    paths = (os.path.join(folder, f"{code}.md") for folder in _FOLDERS)
    return next((path for path in paths if os.path.isfile(path)), None)


def page_address(code: str) -> str | None:
    path = page_path(code)
    return None if path is None else Path(path).resolve().as_uri()
