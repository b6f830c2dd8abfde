from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalcase.report.terminal.cells import cut_text, measure_text, wrap_text
from tests.for_each import for_each


@given(st.text(max_size=200), st.integers(2, 60))
def test_what_is_cut_fits(text: str, width: int) -> None:
    assert measure_text(cut_text(text, width)) <= width


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "Zs"]), max_size=200),
       st.integers(4, 60))  # fmt: skip
def test_wrapping_loses_no_words(text: str, width: int) -> None:
    rows = wrap_text(text, width)
    assert all(measure_text(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


@for_each(
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
    assert cut_text(text, width) == shown
