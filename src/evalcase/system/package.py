"""Where this package lies, and the pages about diagnostics: an installation has them in the package
itself, a clone beside it, in its documentation."""

from __future__ import annotations

import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of the package, as it was imported."""
PAGES = "docs/diagnostics"
"""The folder of the pages, in a clone."""


CLONE = os.path.dirname(os.path.dirname(PACKAGE))
"""The clone that the package is imported from, if it is from one."""


def find_pages() -> str | None:
    """The folder of the pages; None where somebody took them away."""
    installed = os.path.join(PACKAGE, "diagnostics")
    return installed if os.path.isdir(installed) else pages_in(CLONE)


def pages_in(clone: str) -> str | None:
    """The folder of the pages in a clone; None if it has none."""
    folder = os.path.join(clone, PAGES)
    return folder if os.path.isdir(folder) else None
