from __future__ import annotations

from evalcase.report.terminal.style import ANSI, PLAIN, Style
from evalcase.report.terminal.verdict_grid import VerdictGrid
from evalcase.types.result import Result, Verdict
from evalcase.types.value import replace
from tests.report.terminal.endings import result


def held(
    rows: dict[str, tuple[Verdict | None, ...]], targets: tuple[str, ...], suite: str = "s"
) -> VerdictGrid:
    """The first verdicts come last: in which order they come makes no difference."""
    grid = VerdictGrid()
    for number, (name, verdicts) in reversed(list(enumerate(rows.items()))):
        for target, verdict in zip(targets, verdicts, strict=False):
            grid.add(trial(name, target, suite, number), verdict)
    return grid


def trial(case: str, target: str, suite: str, number: int) -> Result:
    made = result(case, "passed")
    return replace(made, number=number, key=made.key._replace(suite=suite, target=target))


def drawn(grid: VerdictGrid, *targets: str, width: int = 80, style: Style = PLAIN) -> list[str]:
    return list(grid.lines(targets, width, style))


def test_cases_that_targets_differ_on_stand_in_the_order_of_the_suite() -> None:
    rows: dict[str, tuple[Verdict | None, ...]] = {
        "sunday": ("passed", "failed"), "sum": ("passed", "passed"),
        "order-of-a-kettle": ("failed", "errored"), "no-one": ("failed", "failed"),
    }  # fmt: skip
    assert drawn(held(rows, ("big", "small")), "big", "small") == [
        "case               big      small",
        "sunday             passed   failed",
        "order-of-a-kettle  failed   errored",
        "",
    ]


def test_what_is_the_same_everywhere_needs_no_grid() -> None:
    grid = held({"a": ("passed", "passed"), "b": ("failed", "failed")}, ("big", "small"))
    assert drawn(grid, "big", "small") == []


def test_a_case_that_a_target_has_not_is_a_dash_and_an_undecided_one_says_so() -> None:
    grid = held({"a": ("passed", None), "b": ("passed", "failed")}, ("big", "small"))
    assert drawn(grid, "big", "small", "other")[1:3] == [
        "a     passed      unfinished  –",
        "b     passed      failed      –",
    ]


def test_names_of_several_suites_say_which() -> None:
    grid = held({"a": ("passed", "failed")}, ("big", "small"), "one.eval.yaml")
    grid.add(trial("a", "big", "two.eval.yaml", 1), "passed")
    assert drawn(grid, "big", "small")[1].startswith("one.eval.yaml: a  passed")


def test_long_names_are_cut_and_too_many_targets_are_left_to_the_page() -> None:
    long = "openai:some-model@http://127.0.0.1:8941/v1"
    grid = held({"a-long-name-of-a-case": ("passed", "failed")}, ("big", long))
    lines = drawn(grid, "big", long, width=40)
    assert lines == [
        "case          big     openai:some-model…",
        "a-long-name…  passed  failed",
        "",
    ]
    assert drawn(grid, "big", long, *map(str, range(9)), width=80) == []


def test_of_many_cases_some_are_shown_and_of_very_many_none() -> None:
    rows: dict[str, tuple[Verdict | None, ...]] = {
        f"c{number}": ("passed", "failed") for number in range(25)
    }
    lines = drawn(held(rows, ("big", "small")), "big", "small")
    assert (len(lines), lines[-2]) == (23, "and 5 more that targets differ on")
    rows = {f"c{number}": ("passed", "failed") for number in range(1001)}
    assert drawn(held(rows, ("big", "small")), "big", "small") == []


def test_verdicts_have_their_colours() -> None:
    grid = held({"a": ("passed", "failed")}, ("big", "small"))
    line = drawn(grid, "big", "small", style=ANSI)[1]
    assert line == f"a     {ANSI.good}passed\x1b[0m  {ANSI.error}failed\x1b[0m"
