"""What is found in a folder: which folders below it are searched, and how eval files are called."""

from __future__ import annotations

import os

FOUND_ENDINGS = (".eval.yaml", ".eval.yml", ".eval.json", ".eval.jsonl")
_NEVER_ENTERED = frozenset({"node_modules", "__pycache__"})


def enters_folder(parent: str, name: str) -> bool:
    """Whether a folder is searched: it is neither hidden nor another program's own."""
    if name.startswith(".") or name in _NEVER_ENTERED:
        return False
    return not os.path.exists(os.path.join(parent, name, "pyvenv.cfg"))


def is_found(name: str) -> bool:
    """Whether a file is taken for an eval file where a folder is searched."""
    return name.lower().endswith(FOUND_ENDINGS)
