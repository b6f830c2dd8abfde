"""Text broken, cut and aligned for a width."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from evalcase.report.terminal import Screen, cut, hang_text
from tests.for_each import for_each

WORDS = st.lists(st.text("abé", min_size=1, max_size=12), max_size=20).map(" ".join)


@for_each(
    ("text", "width", "indent", "taken", "rows"),
    [
        ("", 10, 2, 0, [""]),
        ("one two three", 20, 2, 0, ["one two three"]),
        ("one two three", 8, 2, 0, ["one two", "  three"]),
        ("one two three", 13, 2, 5, ["one two", "  three"]),
        # A word that fits nowhere stays whole.
        ("a/path/that/is/long it", 8, 2, 0, ["a/path/that/is/long", "  it"]),
        ("a  b", 20, 2, 0, ["a  b"]),
        # A command is there to be copied, and stays whole.
        ("do this: evalcase run a.yaml -o b", 20, 2, 0, ["do this:", "  evalcase run a.yaml -o b"]),
        ("write `evalcase run a.yaml`; then go", 20, 2, 0,
         ["write", "  `evalcase run a.yaml`;", "  then go"]),
        ("to say evalcase is no command", 15, 2, 0,
         ["to say evalcase", "  is no command"]),
    ],
)  # fmt: skip
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
        assert cell_len(row) <= room or len(row.split()) <= 1


@given(st.text(max_size=200), st.integers(2, 60))
def test_what_is_cut_or_wrapped_fits(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) <= width
    assert all(cell_len(row) <= max(2, width) for row in Screen().wrap(text, width))
