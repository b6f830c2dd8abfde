"""What the charts of the page say, and when there is none: their script is run by node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.report.page.in_node import run_script

TRY = """
const h = (name, ...kids) => kids.flat(9).filter((kid) => kid?.constructor !== Object).join(' ');
const svg = h;
const values = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(drawLatency(values.map((seconds) => [seconds, true]))));
"""


def draw_latency(*seconds: float | None) -> str | None:
    drawn: str | None = run_script(["numbers.js", "charts.js"], TRY, seconds)
    return drawn


def test_latency_is_drawn_where_anybody_waits() -> None:
    drawn = draw_latency(0.0002, 0.004, 0.008)
    assert drawn is not None
    assert "median 4 ms, 95 % within 8 ms" in drawn


RATES = """
const data = { about: { run: { figures: { interval: 'wilson', cluster: null } } } };
const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));
Object.assign(data.about.run.figures, given.figures);
const group = { passed: 8, count: 10, shared: false, ...given.group };
console.log(JSON.stringify(rateGroup(group, given.known)));
"""


def rate_group(
    figures: dict[str, Any] | None = None, known: Any = None, **group: Any
) -> list[float | None]:
    given = {"figures": figures or {}, "group": group, "known": known}
    found: list[float | None] = run_script(["numbers.js", "charts.js"], RATES, given)
    return found


def test_a_part_has_the_interval_of_the_report_where_it_is_of_the_same_cases() -> None:
    known = {"n": 10, "passed": 8, "rate": 0.8, "low": 0.3, "high": 0.9}
    assert rate_group(known=known) == [0.8, 0.3, 0.9]
    assert rate_group(known=known, passed=7)[1] == pytest.approx(0.397, abs=0.001)
    bare = {**known, "low": None, "high": None}
    assert rate_group(known=bare) == [0.8, None, None]


@pytest.mark.parametrize(
    ("figures", "group"),
    [
        ({"interval": "sequence"}, {}), ({"interval": "exact"}, {}), ({"cluster": "tags.0"}, {}),
        ({}, {"shared": True}), ({}, {"count": 1, "passed": 1}),
    ],
)  # fmt: skip
def test_what_is_filtered_has_no_interval_where_none_holds(
    figures: dict[str, Any], group: dict[str, Any]
) -> None:
    assert rate_group(figures, **group)[1:] == [None, None]


COUNTS = """
const h = (name, ...kids) => kids.flat(9).filter((kid) => kid?.constructor !== Object).join(' ');
const [svg, button, drawWord] = [h, h, (text) => text];
const count = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const graders = Array.from({ length: count }, (_, at) => [`g${at}`, 9 - at]);
console.log(JSON.stringify(drawCounts('Failed by grader', graders, () => null)));
"""


def test_a_chart_that_leaves_graders_out_says_so() -> None:
    drawn = run_script(["numbers.js", "charts.js"], COUNTS, 8)
    assert "the 6 most frequent of 8" in drawn
    # The others are there for who asks for them.
    assert drawn.index("2 more") < drawn.index("g6") < drawn.index("g7")
    assert "most frequent" not in run_script(["numbers.js", "charts.js"], COUNTS, 6)
