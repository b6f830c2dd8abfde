"""The values of a matrix with their labels: what the ids of its cases are made of."""

from __future__ import annotations

import re
from hashlib import sha256
from json import dumps
from typing import Any, NamedTuple

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import describe_kind, write_alike
from evalcase.resolve.findings import Findings
from evalcase.resolve.plain_texts import warn_of_file_value
from evalcase.resolve.variables.tagged import Variable

_PLAIN = re.compile(r"[\w.-]{1,20}")
"""What stands in an id as it is. Whatever means something to a shell or in a glob doesn't."""
_DIGITS = 6


class Labelled(NamedTuple):
    """One of the values that a name goes through."""

    label: str
    variable: Variable


def label_values(value: Any, path: KeyPath, findings: Findings) -> list[Labelled]:
    """The values of one name of a matrix: a list, or a mapping of labels to values."""
    if type(value) not in (list, dict):
        hint = "write a list of values, or a mapping of labels to values"
        message = f"`{path[-1]}` has several values in a matrix, but this is {describe_kind(value)}"
        findings.add("wrong-type", path, message, hint)
        return []
    if not value:
        message = f"`{path[-1]}` has no values, so there is no case"
        findings.add("empty-list", path, message, "give it a value, or leave it out")
        return []
    labels = Labels()
    for key, item in value.items() if type(value) is dict else enumerate(value):
        warn_of_file_value(item, (*path, key), findings)
    if type(value) is dict:
        return [
            Labelled(labels.take(label, label), Variable(item, (*path, label), label))
            for label, item in value.items()
        ]
    known: dict[str, int] = {}
    found: list[Labelled] = []
    for index, item in enumerate(value):
        key = write_alike(item)
        if key in known:
            message = f"this value of `{path[-1]}` appears twice"
            findings.add("bad-value", (*path, index), message, "keep each value once")
            continue
        known[key] = index
        text = item if type(item) is str else dumps(item)
        found.append(Labelled(labels.take(text, key), Variable(item, (*path, index), item)))
    return found


class Labels:
    """Labels that tell values apart: short where they can be, and each only once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, text: str, key: str) -> str:
        """A label for a text; `key` tells it apart from others that look the same."""
        label = short_label(text)
        length = _DIGITS
        while label in self._taken:
            label = hash_label(key, length)
            length += 2
        self._taken.add(label)
        return label


def short_label(text: str) -> str:
    """The text itself, if it is short and plain, else six digits for it."""
    return text if _PLAIN.fullmatch(text) else hash_label(text)


def hash_label(text: str, digits: int = _DIGITS) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
