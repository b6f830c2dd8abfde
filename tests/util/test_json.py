import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.util.json import (
    DEEPEST,
    DEEPEST_ROW,
    BadJsonError,
    JsonPath,
    MissingError,
    fault_in,
    parse_json,
    parse_object,
)
from tests.for_each import for_each
from tests.store.rows import decode_row, encode_row
from tests.store.samples import row

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


@for_each(
    "text",
    ["[]", '{"a": NaN}', '{"a": }', "[" * 300 + "]" * 300, '{"a": 1, "a": 2}', '{"a": 1e999}'],
)
def test_a_row_is_as_strict(text: str) -> None:
    with pytest.raises(BadJsonError):
        parse_object(text, DEEPEST_ROW)
    assert parse_object('{"a": ' + "[" * 199 + "]" * 199 + "}", DEEPEST_ROW)


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


TEXT = st.text(st.characters(codec=None, exclude_categories=()))
ROW_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
NAMES = TEXT.filter(lambda key: key not in ("sum", "type"))
ROWS = st.dictionaries(NAMES, ROW_VALUES, max_size=4).map(lambda rest: {"type": "result", **rest})


@given(ROWS)
def test_any_row_survives(any_row: dict[str, Any]) -> None:
    line = encode_row(any_row)
    assert fault_in(line) is None
    assert line.count(b"\n") == 1
    assert list(decode_row(line).items()) == list(any_row.items())


@for_each(
    "text",
    [
        "\ud800", "\udcff\udc80", "\ud83d\ude00.", "😀", "\\ud83d\\ude00", "\\\ud800",
        "\x00", "\x1b[31mred\x1b[0m", "\x7f\x85\u2028\u2029\ufeff", "\r\n\n", '"},"sum":"',
    ],
)  # fmt: skip
def test_fault_10_lone_surrogates_nul_and_escapes_are_lossless(text: str) -> None:
    line = encode_row({"type": "result", "text": text, text: 1})
    assert decode_row(line) == {"type": "result", "text": text, text: 1}


def test_every_flipped_bit_is_noticed() -> None:
    line = encode_row(row(1))
    for place in range(len(line)):
        for bit in range(8):
            flipped = bytearray(line)
            flipped[place] ^= 1 << bit
            assert fault_in(bytes(flipped)) is not None
