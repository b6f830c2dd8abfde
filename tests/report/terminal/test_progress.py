from __future__ import annotations

import io
from collections import Counter

from rich.cells import cell_len

from evalcase.report.progress import (
    LogView,
    Progress,
    QuietView,
    status_line,
)
from evalcase.report.terminal import Screen
from evalcase.types.result import Verdict
from tests.for_each import for_each
from tests.store.samples import result

ALL = "123/300 · 110 passed · 8 failed · 5 errored · 0:41 · 0:59 left · 10 running · $0.0123"


def counted(passed: int, **others: int) -> Counter[Verdict]:
    return Counter({"passed": passed, **others})  # type: ignore[dict-item]


def under_way() -> Progress:
    return Progress(300, 10, 123, counted(110, failed=8, errored=5), 0.0123)


@for_each(
    ("width", "line"),
    [
        (37, "123/300 · 110 passed · 8 failed"),
        (60, "━━━────── 123/300 · 110 passed · 8 failed · 5 errored · 0:41"),
        (88, ALL),
        (109, f"━━━━━━━━━────────────── {ALL}"),
    ],
)
def test_the_status_line_at_several_widths(width: int, line: str) -> None:
    assert status_line(under_way(), 41.0, Screen(width)) == line


@for_each("width", range(1, 220))
def test_it_never_needs_more_room_than_there_is(width: int) -> None:
    progress = Progress(
        300, 10, 12_170, counted(12_110, failed=8, errored=5, skipped=40, ungraded=7), 12.3
    )
    line = status_line(progress, 5000.0, Screen(width), "finishing")
    assert cell_len(line) <= width


class Log:
    def __init__(self, planned: int) -> None:
        self.now = 0.0
        self.out = io.StringIO()
        self.view = LogView(self.out, lambda: self.now)
        self.view.expect({"agent": planned})

    def pass_trials(self, number: int, each_s: float) -> None:
        for _ in range(number):
            self.now += each_s
            self.view.tick()
            self.view.finished(result(0))

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


def test_a_line_for_each_tenth() -> None:
    log = Log(100)
    log.pass_trials(100, 1.0)
    assert [line.split(" · ")[0] for line in log.lines] == [
        f"{10 * tenth}/100 ({tenth}0%)" for tenth in range(1, 10)
    ]
    assert log.lines[4].startswith("50/100 (50%) · 50 passed · 0:50 · ")


def test_failures_are_named_at_once_and_without_control_codes() -> None:
    log = Log(10)
    log.view.finished(result(1, verdict="failed"))
    log.view.say("a \x1b[2J notice")
    assert log.lines == ["failed case-1: expected 4, got 5", "a <U+001B>[2J notice"]


class Full(io.StringIO):
    def write(self, _: str) -> int:
        raise OSError("no space left")


def test_a_log_that_can_t_be_written_does_not_end_the_run() -> None:
    view = LogView(Full())
    view.expect({"agent": 2})
    view.finished(result(1, verdict="failed"))
    view.warn("careful")
    view.close()
    QuietView(Full()).warn("careful")
