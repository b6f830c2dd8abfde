"""Files as hashes, to see whether one has changed."""

from __future__ import annotations

from hashlib import sha256

UNREADABLE = "unreadable"


def digest_file(path: str) -> str:
    """The hash of a file's bytes; a word that is no hash where it can't be read."""
    digest = sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return UNREADABLE
    return digest.hexdigest()
