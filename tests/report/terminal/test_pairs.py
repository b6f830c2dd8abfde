from __future__ import annotations

import pytest

from evalcase.report.terminal.pairs import SideLine, pair_texts
from tests.effort import count_steps

BLANK = "\n" * 4_000
TEXTS = {
    "blank lines": (f"{BLANK}a", f"{BLANK}\nb"),
    "blank lines between others": (f"x{BLANK}a", f"y{BLANK}b"),
    "the same few lines": ("a\nb\n" * 2_000, "b\nb\na\n" * 2_000),
    "very many lines": (
        "\n".join(map(str, range(20_000))), "\n".join(map(str, range(1, 40_000, 2)))
    ),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "got"), TEXTS.values(), ids=TEXTS)
def test_texts_that_could_be_aligned_in_very_many_ways_take_no_longer(
    expected: str, got: str
) -> None:
    lines = expected.count("\n") + got.count("\n")
    assert count_steps(lambda: list(pair_texts(expected, got))) < 200 * lines


def test_what_is_equal_at_both_ends_is_paired_however_long_it_is() -> None:
    many = "\n".join(map(str, range(5_000)))
    pairs = list(pair_texts(f"{many}\nleft\n{many}", f"{many}\nright\n{many}"))
    differing = [(left, right) for left, right in pairs if left != right]
    assert differing == [(SideLine("left", 0, 4), SideLine("right", 0, 5))]
    assert [pair[0].text for pair in pairs if pair[0] and pair[0].note] == [
        "… 4,998 equal lines", "… 4,998 equal lines",
    ]  # fmt: skip


def test_short_texts_are_aligned_line_by_line() -> None:
    pairs = list(pair_texts("a\nb\nc\nd", "a\nx\nb\nd"))
    assert [(left and left.text, right and right.text) for left, right in pairs] == [
        ("a", "a"), (None, "x"), ("b", "b"), ("c", None), ("d", "d"),
    ]  # fmt: skip


def test_a_comma_at_the_end_of_a_line_of_data_is_no_difference() -> None:
    pairs = list(pair_texts('{\n  "a": 1\n}', '{\n  "a": 2,\n  "k": 3\n}'))
    assert pairs[1] == (SideLine('  "a": 1', 7, 8), SideLine('  "a": 2,', 7, 8))
    assert list(pair_texts("a\nb,", "a\nc"))[1] == (SideLine("b,", 0, 2), SideLine("c", 0, 1))


def test_white_space_alone_is_never_called_empty() -> None:
    (pair,) = pair_texts("a", " \n ")
    assert pair == (SideLine("a", 0, 1), SideLine("(only white space)", note=True))
    (pair,) = pair_texts(" ", "", "(no text)")
    assert [side and side.text for side in pair] == ["(only white space)", "(no text)"]
