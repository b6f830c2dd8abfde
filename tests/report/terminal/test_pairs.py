from __future__ import annotations

import pytest

from evalcase.report.terminal.pairs import Line, pair_texts
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
    assert differing == [(Line("left", 0, 4), Line("right", 0, 5))]
    assert [pair[0].text for pair in pairs if pair[0] and pair[0].note] == [
        "… 4,998 equal lines", "… 4,998 equal lines",
    ]  # fmt: skip


def test_short_texts_are_aligned_line_by_line() -> None:
    pairs = list(pair_texts("a\nb\nc\nd", "a\nx\nb\nd"))
    assert [(left and left.text, right and right.text) for left, right in pairs] == [
        ("a", "a"), (None, "x"), ("b", "b"), ("c", None), ("d", "d"),
    ]  # fmt: skip
