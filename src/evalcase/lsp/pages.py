"""Where the page about a diagnostic can be read: in the clone that evalcase was installed from, or
in the repository that has it. No address is written down: an installation knows its own."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FOLDER = "docs/diagnostics"
_HOSTS = ("github.com", "gitlab.com")
"""They show a file of a commit at the same address."""


def page_of(code: str) -> str | None:
    """The address of the page about a code; None if nobody knows one."""
    folder = _find_folder()
    return None if folder is None else f"{folder}/{code}.md"


@cache
def _find_folder() -> str | None:
    clone = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)
    try:
        told = distribution("evalcase").read_text("direct_url.json")
    except PackageNotFoundError:
        told = None
    return folder_in(clone) or folder_told_by(told)


def folder_in(clone: str) -> str | None:
    """The folder of pages in a clone, as an address."""
    folder = os.path.join(clone, _FOLDER)
    return Path(folder).resolve().as_uri() if os.path.isdir(folder) else None


def folder_told_by(told: str | None) -> str | None:
    """The folder of pages, by what an installer noted of where the package comes from (PEP 610)."""
    try:
        noted = json.loads(told or "{}")
        address, commit = noted.get("url", ""), noted.get("vcs_info", {}).get("commit_id")
        where = urlsplit(address)
    except (ValueError, AttributeError):
        return None
    if where.scheme == "file" and commit is None:
        return folder_in(unquote(where.path))
    if where.scheme == "https" and where.hostname in _HOSTS and commit:
        path = where.path.removesuffix("/").removesuffix(".git")
        return f"https://{where.hostname}{path}/blob/{commit}/{_FOLDER}"
    return None
