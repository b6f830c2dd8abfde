from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalcase.report.terminal.cells import measure_text
from evalcase.report.terminal.pairs import SideLine, pair_calls, pair_texts
from evalcase.report.terminal.side_by_side import compare_lines
from evalcase.report.terminal.style import PLAIN


@given(st.text(max_size=300), st.text(max_size=300), st.integers(20, 150))
@example("", "a\x1f" * 30, 20)
def test_two_texts_side_by_side_always_fit(left: str, right: str, width: int) -> None:
    for line in compare_lines(list(pair_texts(left, right)), width, PLAIN):
        assert measure_text(line) <= width
        assert line.isprintable() or not line.isascii()


def marked(line: SideLine | None) -> str | None:
    """The part of a line that is marked as different."""
    return None if line is None else line.text[line.start : line.end]


def row(expected: str | None, got: str | None, made: bool = False, **more: Any) -> dict[str, Any]:
    return {"expected": expected, "got": got, "made": made, **more}


def test_what_grading_accepts_is_not_marked() -> None:
    """Neither in a call that was made, nor in one whose other arguments are wrong."""
    pairs = pair_calls([
        row("find(order=1)", "find(order=1, verbose=true)", made=True, beyond=12),
        row("refund(euros=7.0)", 'refund(euros=6.4, note="sorry")', beyond=16),
        row(None, "log()", made=True),
    ])  # fmt: skip
    assert [(marked(left), marked(right)) for left, right in pairs] == [
        ("", ""), ("7.0", "6.4"), (None, "")
    ]  # fmt: skip


def test_a_call_that_was_not_made_says_so() -> None:
    [(left, right)] = pair_calls([row("t()", None, note="no tool calls")])
    assert left == SideLine("t()", 0, 3)
    assert right == SideLine("(no tool calls)", note=True)


@pytest.mark.parametrize("nothing", ["(empty)", "(no text)"])
def test_nothing_has_a_word(nothing: str) -> None:
    [(left, right)] = pair_texts("Hello!", "", nothing)
    assert (marked(left), right) == ("Hello!", SideLine(nothing, note=True))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3),
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["expected", "got", "made", "note", "beyond"]), anything)
    )
)
def test_rows_of_strangers_are_drawn_all_the_same(rows: list[dict[str, Any]]) -> None:
    for line in compare_lines(list(pair_calls(rows)), 80, PLAIN):
        assert measure_text(line) <= 80
