from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.text.journal_row import MAX_ROW_DEPTH, decode_row, encode_row, fault_in
from tests.for_each import for_each
from tests.record.samples import row

TEXT = st.text(st.characters(codec=None, exclude_categories=()))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
NAMES = TEXT.filter(lambda key: key not in ("sum", "type"))
ROWS = st.dictionaries(NAMES, VALUES, max_size=4).map(lambda rest: {"type": "result", **rest})


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


def test_a_line_is_utf_8_json_that_any_tool_can_read() -> None:
    line = encode_row({"type": "result", "text": "é😀\ud800"})
    assert line.startswith('{"type":"result","text":"é😀\\ud800","sum":"'.encode())
    assert json.loads(line)["text"] == "é😀\ud800"


def test_every_flipped_bit_is_noticed() -> None:
    line = encode_row(row(1))
    for place in range(len(line)):
        for bit in range(8):
            flipped = bytearray(line)
            flipped[place] ^= 1 << bit
            assert fault_in(bytes(flipped)) is not None


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        {1, 2},
        b"bytes",
        object(),
        nested(MAX_ROW_DEPTH),
        nested(100_000),
    ],
    ids=["nan", "inf", "set", "bytes", "object", "deep", "abysmal"],
)
def test_a_row_that_could_not_be_read_again_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON|nested|float"):
        encode_row({"type": "result", "value": value})


def test_the_deepest_row_is_read_again() -> None:
    deepest = {"type": "result", "value": nested(MAX_ROW_DEPTH - 1)}
    assert decode_row(encode_row(deepest)) == deepest


def test_a_circle_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="JSON"):
        encode_row({"type": "result", "value": circle})


def test_many_brackets_are_not_depth() -> None:
    wide = {"type": "result", "text": "[" * 1000, "list": [[]] * 1000}
    assert decode_row(encode_row(wide)) == wide


@for_each("bad", [{}, {"case": "a"}, {"type": "result", "sum": 1}])
def test_the_journal_s_own_members_are_reserved(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="type"):
        encode_row(bad)
