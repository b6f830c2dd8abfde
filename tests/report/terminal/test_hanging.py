"""Prose broken between words, with a hanging indent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalcase.report.terminal.cells import measure_text
from evalcase.report.terminal.hanging import hang_text
from tests.for_each import for_each

WORDS = st.lists(st.text("ab漢e\u0301", min_size=1, max_size=12), max_size=20).map(" ".join)


def test_without_a_width_it_stays_one_row() -> None:
    text = "word " * 100
    assert hang_text(text, None, indent=2, taken=50) == [text]


@for_each(
    ("text", "width", "indent", "taken", "rows"),
    [
        ("", 10, 2, 0, [""]),
        ("one two three", 20, 2, 0, ["one two three"]),
        ("one two three", 8, 2, 0, ["one two", "  three"]),
        ("one two three", 13, 2, 5, ["one two", "  three"]),
        # What doesn't fit behind the lead begins a row of its own.
        ("one two", 8, 2, 7, ["", "  one", "  two"]),
        # A word that fits nowhere stays whole.
        ("a/path/that/is/long it", 8, 2, 0, ["a/path/that/is/long", "  it"]),
        ("漢字 漢字", 6, 0, 0, ["漢字", "漢字"]),
        ("a  b", 20, 2, 0, ["a  b"]),
    ],
)
def test_rows(text: str, width: int, indent: int, taken: int, rows: list[str]) -> None:
    assert hang_text(text, width, indent=indent, taken=taken) == rows


@given(WORDS, st.integers(1, 40), st.integers(0, 6), st.integers(0, 50))
def test_no_word_is_broken_or_lost_and_rows_fit(
    text: str, width: int, indent: int, taken: int
) -> None:
    rows = hang_text(text, width, indent=indent, taken=taken)
    assert " ".join(rows).split() == text.split()
    for number, row in enumerate(rows):
        room = width - (0 if number else taken)
        assert measure_text(row) <= room or len(row.split()) <= 1
