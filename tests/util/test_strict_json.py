from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.util.json import DEEPEST, DEEPEST_ROW, BadJsonError, parse_json, parse_object
from tests.for_each import for_each

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(VALUES)
def test_what_is_json_is_read_as_it_stands_from_text_and_bytes(value: Any) -> None:
    text = json.dumps(value)
    assert parse_json(text) == parse_json(text.encode()) == parse_json(f" {text}\n") == value


@for_each(
    ("source", "why"),
    [
        ("", "Expecting value at line 1, column 1"),
        ('{"a":\n nope}', "Expecting value at line 2, column 2"),
        ("{} {}", "Extra data at line 1, column 4"),
        ('"a\nb"', "Invalid control character at line 1, column 3"),
        ('"a', "Unterminated string starting at line 1, column 1"),
        ('{"a": 1, "b": {"c": 2, "c": 3}}', 'it has the key "c" twice'),
        ('{"' + "k" * 200 + '": 1, "' + "k" * 200 + '": 1}', f'the key "{"k" * 80}"… twice'),
        ("NaN", "NaN is not a JSON value"),
        ("[-Infinity]", "-Infinity is not a JSON value"),
        ("1e999", "the number 1e999 is too large"),
        ("[-1e999]", "the number -1e999 is too large"),
        ("1" * 5000, "a number in it has too many digits"),
        ("\ufeff{}", "it begins with a byte order mark"),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark"),
        (b'{"a": "\xff"}', "it is not UTF-8 (the byte 0xff at offset 7)"),
        ("[" * 101 + "]" * 101, "it is nested more than 100 deep"),
        ('{"a":' * 101 + "1" + "}" * 101, "it is nested more than 100 deep"),
        ("[" * 100_000, "it is nested more than 100 deep"),
        ("[" * 100_000 + "]" * 100_000, "it is nested more than 100 deep"),
    ],
)
def test_what_can_not_be_kept_as_it_stands_says_why(source: str | bytes, why: str) -> None:
    with pytest.raises(BadJsonError) as caught:
        parse_json(source)
    assert why in str(caught.value)
    assert len(str(caught.value)) < 200


def test_as_deep_as_it_may_be_and_no_deeper() -> None:
    at_most = "[" * DEEPEST + "]" * DEEPEST
    assert parse_json(at_most) is not None
    assert parse_json(f"[{at_most}]", DEEPEST + 1) is not None
    with pytest.raises(BadJsonError):
        parse_json(f"[{at_most}]")
    # Brackets in texts nest nothing.
    assert parse_json(json.dumps("[{" * 1000)) == "[{" * 1000
    assert parse_json("[" + "[]," * 1000 + "[]]")


def test_an_object_is_wanted() -> None:
    assert parse_object(b'{"a": [1]}') == {"a": [1]}
    for text in ("[]", '"{}"', "null", "3"):
        with pytest.raises(BadJsonError, match="it is not an object"):
            parse_object(text)


@for_each(
    "text",
    ["[]", '{"a": NaN}', '{"a": }', "[" * 300 + "]" * 300, '{"a": 1, "a": 2}', '{"a": 1e999}'],
)
def test_a_row_is_as_strict(text: str) -> None:
    with pytest.raises(BadJsonError):
        parse_object(text, DEEPEST_ROW)
    assert parse_object('{"a": ' + "[" * 199 + "]" * 199 + "}", DEEPEST_ROW)
