from __future__ import annotations

import io

from evalcase.report.terminal.quiet import QuietView
from evalcase.report.terminal.sparse import SparseView
from evalcase.report.terminal.style import PLAIN
from tests.store.samples import result


class Log:
    def __init__(self, planned: int) -> None:
        self.now = 0.0
        self.out = io.StringIO()
        self.view = SparseView(self.out, PLAIN, lambda: self.now)
        self.view.expect({"agent": planned})

    def pass_trials(self, number: int, each_s: float) -> None:
        for _ in range(number):
            self.now += each_s
            self.view.tick()
            self.view.finished(result(0))

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


def test_a_quick_run_says_nothing() -> None:
    log = Log(1000)
    log.pass_trials(1000, 0.001)
    assert log.lines == []


def test_a_line_for_each_tenth() -> None:
    log = Log(100)
    log.pass_trials(100, 1.0)
    assert [line.split(" · ")[0] for line in log.lines] == [
        f"{10 * tenth}/100 ({tenth}0%)" for tenth in range(1, 10)
    ]
    assert log.lines[4].startswith("50/100 (50%) · 50 passed · 0:50 · ")


def test_a_tenth_is_one_of_all_that_there_is_by_then() -> None:
    """Cases that were edited in between make it more than was planned."""
    log = Log(10)
    log.view.finished(result(0))
    log.view.progress.planned = 20
    log.pass_trials(18, 3.0)
    assert [line.split(" · ")[0] for line in log.lines] == [
        f"{done}/20 ({5 * done}%)" for done in range(4, 20, 2)
    ]


def test_a_line_after_half_a_minute_without_one() -> None:
    log = Log(1000)
    log.pass_trials(10, 10.0)
    assert len(log.lines) == 3
    for _ in range(30):
        log.now += 1.0
        log.view.tick()
    assert len(log.lines) == 4, "also while nothing finishes"


def test_failures_are_named_at_once_and_without_control_codes() -> None:
    log = Log(10)
    log.view.finished(result(1, verdict="failed"))
    log.view.say("a \x1b[2J notice")
    assert log.lines == ["failed case-1: expected 4, got 5", "a <U+001B>[2J notice"]


def test_failures_are_left_to_a_summary_in_the_same_log() -> None:
    """A log of both shows none of them twice; how many there are is told on the way."""
    log = Log(10)
    log.view.same = True
    log.now = 20.0
    for number in range(1, 4):
        log.view.finished(result(number, verdict="failed"))
    assert [line.split(" · ")[1] for line in log.lines] == ["1 failed"]


class Full(io.StringIO):
    def write(self, _: str) -> int:
        raise OSError("no space left")


def test_a_log_that_can_t_be_written_does_not_end_the_run() -> None:
    view = SparseView(Full(), PLAIN)
    view.expect({"agent": 2})
    view.finished(result(1, verdict="failed"))
    view.warn("careful")
    view.close()
    QuietView(Full()).warn("careful")
