from __future__ import annotations

from typing import Any

import pytest

from evalcase.util.json import JsonPath, MissingError
from tests.for_each import for_each

VALUE: Any = {"a": [{"b": 1}, {"b": None}], "c.d": {"/~": 2}, "": 3, "0": 4}


@for_each(
    ("path", "found"),
    [
        ("a.0.b", 1),
        ("a.-1.b", None),
        ("/a/0/b", 1),
        ("/c.d/~1~0", 2),
        ("/", 3),
        ("0", 4),
        ("a", VALUE["a"]),
    ],
)
def test_paths(path: str, found: Any) -> None:
    assert JsonPath(path).find(VALUE) == found


@for_each("path", [
    "b", "a.2", "a.-3", "a.b", "a.0.b.c", "a.1.b.c", "c.d",
    # Only what is usually written for a number is one.
    "a.\u0661", "a.\uff11", "a.-0", "a.00", "a.01", "a.-01", "a.--1", "a.+1", "a.1_0",
])  # fmt: skip
def test_what_is_not_there(path: str) -> None:
    with pytest.raises(MissingError, match="there is nothing at"):
        JsonPath(path).find(VALUE)


@for_each("path", ["", ".", "a..b", ".a", "a."])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="empty step"):
        JsonPath(path)
