from __future__ import annotations

from collections import Counter

import pytest

from evalcase.report.terminal.cells import measure_text
from evalcase.report.terminal.progress import (
    Progress,
    Speed,
    per_time,
    plain_line,
    status_line,
    write_clock,
    write_money,
    write_span,
)
from evalcase.report.terminal.style import PLAIN
from evalcase.types.result import Verdict
from tests.for_each import for_each

ALL = (
    "123/300 · 110 passed · 8 failed · 5 errored · 0:41 · 59 s left · 10 running · $0.0123 · 3.0/s"
)


def counted(passed: int, **others: int) -> Counter[Verdict]:
    return Counter({"passed": passed, **others})  # type: ignore[dict-item]


def under_way() -> Progress:
    return Progress(300, 10, 123, counted(110, failed=8, errored=5), 0.0123)


def steady(until: int, per_s: int = 3) -> Speed:
    speed = Speed(0.0)
    for second in range(1, until):
        speed.mark(float(second), per_s * second)
    return speed


@for_each(
    ("width", "line"),
    [
        (37, "123/300 ✓110 ✗8 !5  0:41  59 s left"),
        (60, "━━━━──────── 123/300 ✓110 ✗8 !5  0:41  59 s left  10 running"),
        (77, "━━━━━──────── 123/300 ✓110 ✗8 !5  0:41  59 s left  10 running  $0.0123  3.0/s"),
        (117, f"━━━━━━━━━────────────── {ALL}"),
    ],
)
def test_the_status_line_at_several_widths(width: int, line: str) -> None:
    assert status_line(under_way(), steady(41), 41.0, width, PLAIN) == line


@for_each("width", range(1, 220))
def test_it_never_needs_more_room_than_there_is(width: int) -> None:
    progress = Progress(
        300, 10, 12_170, counted(12_110, failed=8, errored=5, skipped=40, ungraded=7), 12.3
    )
    line = status_line(progress, steady(5000), 5000.0, width, PLAIN, "finishing")
    assert measure_text(line) <= width


def test_an_estimate_is_made_only_when_it_means_something() -> None:
    progress = Progress(10, 1)
    speed = Speed(0.0)
    progress.done = 2
    assert "left" not in plain_line(progress, speed, 60.0)
    progress.done = 3
    assert "left" not in plain_line(progress, speed, 1.0)
    assert "2 min left" in plain_line(progress, speed, 60.0)


def test_the_estimate_follows_what_happens_of_late() -> None:
    speed = Speed(0.0)
    for second in range(1, 100):
        speed.mark(float(second), 100 * min(second, 50) + max(0, second - 50))
    rate = speed.per_s(100.0, 5050)
    assert rate == pytest.approx(1.0, rel=0.05)


def test_slow_trials_still_have_a_pace() -> None:
    """One in a minute: the last half minute alone would say nothing."""
    speed = Speed(0.0)
    for second in range(1, 1200):
        speed.mark(float(second), second // 60)
    assert speed.per_s(1200.0, 20) == pytest.approx(1 / 60, rel=0.1)


def test_the_marks_are_bounded() -> None:
    speed = Speed(0.0)
    for second in range(1, 10_000):
        speed.mark(float(second), 0)
    assert len(speed._marks) <= 3600


def test_cases_that_were_edited_make_it_more_than_planned() -> None:
    progress = Progress(2, 1, 4, counted(4))
    assert plain_line(progress, Speed(0.0), 0.0).startswith("4/5 (80%)")


@for_each(("seconds", "shown"), [(0, "0:00"), (59.9, "0:59"), (754, "12:34"), (3754, "1:02:34")])
def test_clock(seconds: float, shown: str) -> None:
    assert write_clock(seconds) == shown


@for_each(("seconds", "shown"), [(0.2, "1 s"), (89, "89 s"), (150, "2 min"), (7800, "2 h 10 min")])
def test_span(seconds: float, shown: str) -> None:
    assert write_span(seconds) == shown


@for_each(
    ("usd", "shown"),
    [
        (None, "–"), (0.0, "$0"), (0.0031, "$0.0031"), (12.345, "$12.35"),
        (1234.5, "$1,234.50"), (0.00001234, "$0.000012"), (0.00009, "$0.000090"),
    ],
)  # fmt: skip
def test_money(usd: float | None, shown: str) -> None:
    """A real cost never looks like none."""
    assert write_money(usd) == shown


@for_each(("rate", "shown"), [(812.4, "812/s"), (3.04, "3.0/s"), (0.05, "3.0/min")])
def test_per_time(rate: float, shown: str) -> None:
    assert per_time(rate) == shown
