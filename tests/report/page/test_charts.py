"""What the charts of the page say, and when there is none: their script is run by node."""

from typing import Any

import pytest

from tests.report.page.in_node import run_script

TRY = """
const h = (name, ...kids) => kids.flat(9).filter((kid) => kid?.constructor !== Object).join(' ');
const svg = h;
const values = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(drawLatency(values.map((seconds) => [seconds, true]))));
"""


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
