"""What files hold, as hashes: to see later whether one has changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256

from evalcase.system.files import open_file, read_bytes

UNREADABLE = "unreadable"
"""In place of a hash, for what can't be opened or is no regular file."""

_BLOCK = 1 << 20


def digest_file(path: str) -> str:
    """The SHA-256 of what a file holds, however large; that it can't be read is no error here."""
    digest = sha256()
    try:
        with open_file(path) as file:
            # One that grows while it is read has an end all the same.
            rest = os.fstat(file.fileno()).st_size
            while rest > 0 and (block := read_bytes(file, min(rest, _BLOCK))):
                digest.update(block)
                rest -= len(block)
    except OSError:
        return UNREADABLE
    return digest.hexdigest()


class FileDigests:
    """The hashes of files that many ask for: each is read once, and again when it was changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int, str]] = {}

    def of(self, files: Mapping[str, str]) -> dict[str, str]:
        """The hash of each file, by the names under which their paths are given."""
        return {name: self._digest(path) for name, path in files.items()}

    def _digest(self, path: str) -> str:
        try:
            about = os.stat(path)
        except OSError:
            return UNREADABLE
        known = self._known.get(path)
        if known is None or known[:2] != (about.st_mtime_ns, about.st_size):
            known = self._known[path] = about.st_mtime_ns, about.st_size, digest_file(path)
        return known[2]
