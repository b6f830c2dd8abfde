"""What the charts of the page say, and when there is none: their script is run by node."""

from __future__ import annotations

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
    assert "median 4 ms, 95 % below 8 ms" in drawn


def test_latency_of_less_than_a_millisecond_is_no_chart() -> None:
    assert draw_latency(0.000005, 0.000022, None, 0.0009) is None
