"""What the ids of cases begin with that are made of one, and what they say of rows."""

from __future__ import annotations

import re
from json import dumps
from typing import Any

from evalcase.resolve.findings import Findings
from evalcase.resolve.ids import Ids
from evalcase.resolve.messages import read_input
from evalcase.resolve.variables.labels import hash_label

_PLAIN = re.compile(r"[\w.-]{1,64}")
"""An `id` that is kept as it is."""
_WHOLE = 32


def find_base_id(raw: dict[str, Any], ids: Ids) -> str | None:
    """The id of a case as it is written, else one made from its input, tags and all; None if what
    is written is no id."""
    id = raw.get("id")
    if id is not None:
        return id if type(id) is str and id.strip() else None
    return ids.make(_said_first(raw))


def _said_first(raw: dict[str, Any]) -> list[dict[str, Any]]:
    """What a case says to a target, as messages; whatever is wrong with it is told elsewhere."""
    turns = raw.get("turns")
    said = [raw.get("input"), raw.get("input_messages"), *(turns if type(turns) is list else ())]
    messages: list[dict[str, Any]] = []
    for each in said:
        value = each.get("input", each) if type(each) is dict else each
        read = read_input(value, (), Findings()) if value not in (None, [], "") else None
        messages += read or ()
    return messages


class RowLabels:
    """What ids say of the rows of a table: their `id`, else digits for what they hold."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}
        """The longer hash of what has a label that is made of digits."""
        self._copies: dict[str, int] = {}

    def take(self, row: dict[str, Any]) -> str:
        id = row.get("id")
        if type(id) is int or (type(id) is str and id.strip()):
            text = str(id).strip()
            return text if _PLAIN.fullmatch(text) else self._hash(text)
        label = self._hash(dumps(row, sort_keys=True))
        count = self._copies[label] = self._copies.get(label, 0) + 1
        return label if count == 1 else f"{label}-{count}"

    def _hash(self, text: str) -> str:
        """Six digits; more where other rows have the same."""
        whole = hash_label(text, _WHOLE)
        length = 6
        while self._taken.setdefault(whole[:length], whole) != whole:
            length += 2
        return whole[:length]
