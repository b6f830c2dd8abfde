"""The parts of a page that are the same for every run: markup, style and script.

All script is one function in one element, all style is one element, and the policy of the page
knows both by their hashes: nothing else can be executed, whatever the data holds.
"""

from __future__ import annotations

import os
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from evalcase.util.files import read_file

SCRIPTS = (
    "dom", "text", "data", "numbers", "state", "filters", "grid", "list", "messages", "diff",
    "grades", "labels", "talk", "steps", "case", "charts", "compare", "keys", "main",
)  # fmt: skip
"""In the order in which they are put together: later ones use what earlier ones define."""
SERVED_SCRIPTS = ("watch", *SCRIPTS)
"""Those of a page that comes from `evalcase view`, and may ask it for more. One that is kept can't
even try."""
RUNS_SCRIPTS = ("dom", "text", "data", "numbers", "runs")
"""Those of the list of runs that `evalcase view` shows."""

_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; "
    "img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_SERVED = "; connect-src 'self'"
"""What a page from `evalcase view` may do beside: ask it for more."""
_MOST_BYTES = 1_000_000


class Shell(NamedTuple):
    """What stands before and after the data."""

    head: bytes
    tail: bytes
    policy: str


@cache
def build_shell(scripts: tuple[str, ...] = SCRIPTS) -> Shell:
    """The page without its data."""
    served = scripts != SCRIPTS
    script, style = read_script(scripts), read_style(scripts)
    policy = _POLICY.format(script=_hash_text(script), style=_hash_text(style)) + _SERVED * served
    text = _read_asset("page.html").replace("{policy}", policy).replace("{style}", style)
    head, tail = text.split("{data}")
    return Shell(head.encode(), tail.replace("{script}", script).encode(), policy)


def read_script(scripts: tuple[str, ...] = SCRIPTS) -> str:
    """All files of script, as one function: none of its names can be reached from outside."""
    files = [_read_asset(f"{name}.js") for name in scripts]
    return "\n".join(["(() => {", "'use strict';", *files, "})();"])


def read_style(scripts: tuple[str, ...] = SCRIPTS) -> str:
    """All style of the page that has these scripts."""
    names = ["page.css", "runs.css" if scripts == RUNS_SCRIPTS else "grid.css"]
    return "".join(map(_read_asset, names))


def _hash_text(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _read_asset(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), name)
    return read_file(path, _MOST_BYTES).decode()
