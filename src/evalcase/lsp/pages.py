"""Where the page about a diagnostic can be read: in the clone that evalcase was installed from, in
the repository that has it, or in the package. No address is written down: an installation knows its
own."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from evalcase.util.environment import PACKAGE

PAGES = "docs/diagnostics"
"""The folder of the pages, in a clone."""
CLONE = os.path.dirname(os.path.dirname(PACKAGE))
"""The clone that the package is imported from, if it is from one."""
_HOSTS = ("github.com", "gitlab.com")
"""They show a file of a commit at the same address."""


def find_pages() -> str | None:
    """The folder of the pages: an installation has them in the package, a clone beside it."""
    installed = os.path.join(PACKAGE, "diagnostics")
    return installed if os.path.isdir(installed) else pages_in(CLONE)


def pages_in(clone: str) -> str | None:
    """The folder of the pages in a clone; None if it has none."""
    folder = os.path.join(clone, PAGES)
    return folder if os.path.isdir(folder) else None


def page_of(code: str) -> str | None:
    """The address of the page about a code; None if nobody knows one."""
    folder = _find_folder()
    return None if folder is None else f"{folder}/{code}.md"


@cache
def _find_folder() -> str | None:
    try:
        told = distribution("evalcase").read_text("direct_url.json")
    except PackageNotFoundError:
        told = None
    # Those that an installation brings along lead nowhere else: the other pages aren't there.
    return _write_address(pages_in(CLONE)) or folder_told_by(told) or _write_address(find_pages())


def _write_address(folder: str | None) -> str | None:
    return None if folder is None else Path(folder).resolve().as_uri()


def folder_told_by(told: str | None) -> str | None:
    """The folder of pages, by what an installer noted of where the package comes from (PEP 610)."""
    try:
        noted = json.loads(told or "{}")
        address, commit = noted.get("url", ""), noted.get("vcs_info", {}).get("commit_id")
        where = urlsplit(address)
    except (ValueError, AttributeError):
        return None
    if where.scheme == "file" and commit is None:
        return _write_address(pages_in(unquote(where.path)))
    if where.scheme == "https" and where.hostname in _HOSTS and commit:
        path = where.path.removesuffix("/").removesuffix(".git")
        return f"https://{where.hostname}{path}/blob/{commit}/{PAGES}"
    return None
