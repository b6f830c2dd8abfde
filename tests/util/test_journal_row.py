from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalcase.util.json import fault_in
from tests.for_each import for_each
from tests.store.rows import decode_row, encode_row
from tests.store.samples import row

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
