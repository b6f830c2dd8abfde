from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.report.terminal.cells import cut, measure, wrap
from evalcase.report.terminal.side_by_side import compare_lines
from evalcase.report.terminal.style import PLAIN


@given(st.text(max_size=200), st.integers(2, 60))
def test_what_is_cut_fits(text: str, width: int) -> None:
    assert measure(cut(text, width)) <= width


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "Zs"]), max_size=200),
       st.integers(4, 60))  # fmt: skip
def test_wrapping_loses_no_words(text: str, width: int) -> None:
    rows = wrap(text, width)
    assert all(measure(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 10, "short"),
        ("rather long", 8, "rather …"),
        ("two\nlines", 10, "two…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("\x1b[2J", 20, "<U+001B>[2J"),
    ],
)
def test_cut(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown


@given(st.text(max_size=300), st.text(max_size=300), st.integers(20, 150))
def test_two_texts_side_by_side_always_fit(left: str, right: str, width: int) -> None:
    for line in compare_lines(left, right, width, PLAIN):
        assert measure(line) <= width
        assert line.isprintable() or not line.isascii()
