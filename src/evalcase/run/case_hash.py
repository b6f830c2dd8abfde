"""A short name for all of a case that can change its result."""

from __future__ import annotations

from hashlib import sha256
from json import dumps

from evalcase.model.case import Case

_WITHOUT_EFFECT = frozenset({"description", "tags", "targets", "repeat", "skip"})


def hash_case(case: Case) -> str:
    """16 hex digits. A new description or tag doesn't make a finished trial stale."""
    data = {name: value for name, value in case.to_dict().items() if name not in _WITHOUT_EFFECT}
    text = dumps(data, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:16]
