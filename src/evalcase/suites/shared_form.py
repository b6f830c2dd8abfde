"""Canonical cases in, what all of them have in common out, and the cases without it.

The canonical form says of each case all that holds for it. A person says once for the suite what
holds for every case: the system prompt, the target, the graders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_ALIKE = ("targets", "repeat", "threshold", "timeout_s")
"""Fields that a case takes over from its suite whole."""

_FIRST = ("input", "tags", "graders")
"""Fields that begin with what the suite says."""

_SETTING = ("system", "developer")
"""The roles of messages that say how to answer, and not what is asked."""


def share_fields(
    cases: Sequence[dict[str, Any]],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The fields of a suite, and its cases without them. A lone case shares nothing."""
    if len(cases) < 2:
        return {}, list(cases)
    shared: dict[str, Any] = {}
    for name in _ALIKE:
        value = cases[0].get(name)
        if value is not None and all(each.get(name) == value for each in cases):
            shared[name] = value
    for name in _FIRST:
        common = _common_start([each.get(name, []) for each in cases], name)
        if common:
            shared[name] = common
    return shared, [_drop_shared(case, shared) for case in cases]


def _common_start(lists: list[list[Any]], name: str) -> list[Any]:
    shortest = min(map(len, lists))
    common = []
    # Each case keeps a message of its own.
    for number in range(shortest - 1 if name == "input" else shortest):
        item = lists[0][number]
        if any(each[number] != item for each in lists):
            break
        if name == "input" and item["role"] not in _SETTING:
            break
        common.append(item)
    return common


def _drop_shared(case: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    left = {}
    for name, value in case.items():
        if name in _FIRST and name in shared:
            rest = value[len(shared[name]) :]
            if rest:
                left[name] = rest
        elif name not in shared:
            left[name] = value
    return left
