"""What graders compared, and what broke, as a terminal shows them."""

from collections.abc import Sequence
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from evalcase.report.details import evidence_lines
from evalcase.report.diff import LinePair, SideLine, pair_calls, pair_texts
from evalcase.report.terminal import Screen
from tests.for_each import for_each


def drawn(pairs: Sequence[LinePair], width: int = 80) -> list[str]:
    return list(Screen(width).sides(pairs))


@given(st.text(max_size=300), st.text(max_size=300), st.integers(20, 150))
@example("", "a\x1f" * 30, 20)
def test_two_texts_side_by_side_always_fit(left: str, right: str, width: int) -> None:
    for line in drawn(list(pair_texts(left, right)), width):
        assert cell_len(line) <= width
        assert line.isprintable() or not line.isascii()


def marked(line: SideLine | None) -> str | None:
    """The part of a line that is marked as different."""
    return None if line is None else line.text[line.start : line.end]


def row(expected: str | None, got: str | None, made: bool = False, **more: Any) -> dict[str, Any]:
    return {"expected": expected, "got": got, "made": made, **more}


def test_what_grading_accepts_is_not_marked() -> None:
    pairs = pair_calls([
        row("find(order=1)", "find(order=1, verbose=true)", made=True),
        row("refund(euros=7.0)", "refund(euros=6.4)"),
        row(None, "log()", made=True),
    ])  # fmt: skip
    assert [(marked(left), marked(right)) for left, right in pairs] == [
        ("", ""), ("7.0", "6.4"), (None, "")
    ]  # fmt: skip


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
anything = scalars | st.lists(scalars | st.lists(scalars, max_size=3), max_size=3)


FIELDS: list[Any] = [
    {"field": "a", "expected": "1", "got": "1", "matches": True, "weight": 1.0},
    {"field": "b", "expected": "2 ± 1", "got": "9", "matches": False, "weight": 1.0},
]


OWN = ('  File "/p/evalcase/targets/agent.py", line 3, in asks', "    await context.ask('j', 'x')")
OURS = ('  File "/c/src/evalcase/model/grader.py", line 132, in _message_of', "    raise TypeError")
INSTALLED = ('  File "/v/lib/python3.11/site-packages/evalcase/model/grader.py", line 132, in f',)
PYTHON = ('  File "/usr/lib/python3.11/json/decoder.py", line 337, in decode',)
BUILT_IN = ('  File "<string>", line 1, in <module>',)


def place_in(*frames: Sequence[str]) -> list[str]:
    trace = ["Traceback (most recent call last):", *[line for each in frames for line in each]]
    return list(evidence_lines({"traceback": [*trace, "TypeError: no"]}, Screen(100)))


@for_each("beneath", [OURS, INSTALLED, PYTHON, BUILT_IN])
def test_the_last_line_of_ones_own_is_shown(beneath: Sequence[str]) -> None:
    shown = ["/p/evalcase/targets/agent.py:3, in asks", "    await context.ask('j', 'x')"]
    assert place_in(OURS, OWN, beneath) == shown
