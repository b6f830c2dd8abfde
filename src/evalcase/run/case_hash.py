"""A short name for all of a case that can change its result."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from json import JSONEncoder

from evalcase.model.case import Case

_WITHOUT_EFFECT = frozenset({"description", "tags", "targets", "repeat", "skip"})
# Made once: each call of `json.dumps` with options makes another.
_to_json = JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False).encode


def hash_case(case: Case, files: Mapping[str, str] | None = None) -> str:
    """16 hex digits. A new description or tag doesn't make a finished trial stale; a new hash of
    one of its `files` does."""
    held = case._data  # noqa: SLF001 - it is only read, and a copy takes as long as the hash
    data = {name: value for name, value in held.items() if name not in _WITHOUT_EFFECT}
    if files:
        data["files"] = files
    return sha256(_to_json(data).encode()).hexdigest()[:16]
