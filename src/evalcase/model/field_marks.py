"""What a field of a dataclass is beside its type: metadata that the codec goes by."""

from __future__ import annotations

from typing import Any

INLINE = {"inline": True}
"""Metadata of a field that is a named tuple, and whose fields stand in its place."""

NOT_NEGATIVE = {"least": 0}
COUNT = {"least": 1}
SHARE = {"least": 0, "most": 1}
"""Metadata of a field that is a number, or may be one: what it can be."""


def mark_kinds(*types: type) -> dict[str, Any]:
    """Metadata of a field that is of one of several types."""
    return {"kinds": types}
