import re

import pytest
from rich.cells import cell_len

from evalcase.report.figures import write_percent
from evalcase.report.terminal import Screen
from evalcase.types.answer import Answer, Failure
from evalcase.types.grade import Grade
from evalcase.types.result import VERDICTS
from tests.for_each import for_each
from tests.report.terminal.endings import (
    called,
    everything,
    hopeless,
    one_case,
    result,
    said,
    several,
    sides,
    summary,
)

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [31, 52, 80, 101, 199])
@pytest.mark.parametrize("colour", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, colour: bool) -> None:
    screen = Screen(width, colour=colour)
    drawn = [summary(results, screen) for results in (everything(), several(), hopeless())]
    for lines in (*drawn, one_case(screen)):
        for line in lines:
            shown = _COLOUR.sub("", line)
            # A path, a command or an id is copied, so it is never cut or broken.
            copied = shown.startswith("record") or "evalcase report" in shown
            if not copied and not shown.lstrip().startswith((*VERDICTS, "unfinished", "evals/")):
                assert cell_len(shown) <= width, shown


@for_each("width", [40, 80, 120])
def test_nothing_from_outside_steers_the_terminal(width: int) -> None:
    evil = "\x1b[2J\x07\x9b1m\u202e"
    results = [
        result(evil, "failed", sides(evil, evil + "x", where=evil, note=evil)),
        result("b", "failed", sides("a", evil, evil), answer=said(evil, {"tool": evil})),
        result("c", "failed", called({"expected": evil, "got": evil}, {"note": evil, "got": None})),
        result("d", "failed", Grade(evil, 0.0, False, evil), answer=said(evil, {"odd": evil})),
        result("lamp", "errored", answer=None, failure=Failure("exit", evil, {"stderr": evil})),
    ]
    for line in summary(results, Screen(width), status="failed", notice=evil):
        assert line.isprintable(), line


def test_an_error_that_many_cases_share_is_told_once() -> None:
    lines = summary(hopeless())
    assert sum(line.startswith("errored ") for line in lines) == 1
    assert "  the same for 299 more" in lines


def test_a_cost_that_is_partly_unknown_says_so() -> None:
    free = result("b", "passed", answer=Answer.of_text("ok"))
    priced = result("a", "passed")
    assert "cost     1 answer without a cost" in summary([priced, free])
    for results in ([priced], [free]):
        assert not [line for line in summary(results) if line.startswith("cost")]


@for_each(
    ("passed", "of", "shown"),
    [(1, 1, "100.0%"), (0, 1, "0.0%"), (99_999, 100_000, "99.9%"), (1, 100_000, "0.1%"),
     (2, 3, "66.7%")],
)  # fmt: skip
def test_all_and_none_are_said_of_all_and_none_only(passed: int, of: int, shown: str) -> None:
    assert write_percent(passed / of) == shown
