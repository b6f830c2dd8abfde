"""The variables of a case in, what cases can be grouped by out: short texts and numbers."""

from __future__ import annotations

from json import dumps

from evalcase.types.case import Case

_LONGEST = 100


def variable_labels(case: Case | None) -> dict[str, str]:
    """Values by the names of variables. What is long, a list or a mapping tells no groups apart."""
    held = case._data.get("vars") if case is not None else None
    if not isinstance(held, dict):
        return {}
    labels = {
        name: value if isinstance(value, str) else dumps(value)
        for name, value in held.items()
        if not isinstance(value, list | dict)
    }
    return {name: label for name, label in labels.items() if len(label) <= _LONGEST}
