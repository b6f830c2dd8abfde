"""Every form of a report says the same of how long answers took."""

import json

import pytest

from evalcase.stats.intervals import find_median, find_percentile
from tests.report.page.in_node import run_script
from tests.report.page.opened import open_page
from tests.run.project import Project, case

TOOK = {"a": [0.1, 0.9, 0.4], "b": [1.25, 0.2, 3.5], "c": [0.3, 0.35, 2.0], "d": [0.5, 0.75, 0.8]}
SAY = """
const rows = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const sorted = rows.flat().sort((a, b) => a - b);
console.log(JSON.stringify([findMedian(sorted), findPercentile(sorted, 95)]));
"""


@pytest.fixture
def timed(project: Project) -> Project:
    rows = [{"case": id, "repeat": repeat, "answer": "ok", "duration_s": took_s}
            for id, times in TOOK.items() for repeat, took_s in enumerate(times, 1)]  # fmt: skip
    (project.path / "told.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    project.suite(*[case(id) for id in TOOK], repeat=3, graders=[{"contains": "ok"}])
    assert project.run("run", "--target", "replay:told.jsonl").code == 0
    return project


def test_the_median_and_the_95th_percentile_are_the_same_everywhere(timed: Project) -> None:
    ordered = sorted(took_s for times in TOOK.values() for took_s in times)
    median, most = find_median(ordered), find_percentile(ordered, 95)
    assert (median, most) == (0.625, 3.5)
    told = json.loads(timed.run("report", "--format", "json").out)
    latency = told["figures"]["by_target"]["replay:told.jsonl"]["latency"]
    assert (latency["n"], latency["median_s"], latency["p95_s"]) == (12, median, most)
    assert (
        "latency: median 0.62 s, 95% within 3.50 s"
        in timed.run("report", "--format", "markdown").out
    )
    assert "median 0.62 s, 95% within 3.50 s" in timed.run("report", "-v").out
    timed.run("report", "--format", "html", "-o", "page.html")
    page = open_page((timed.path / "page.html").read_bytes())
    assert page.columns["took"] == list(TOOK.values())
    means = [round(sum(times) / len(times), 6) for times in TOOK.values()]
    assert page.columns["seconds"] == means
    assert run_script(["numbers.js"], SAY, page.columns["took"]) == [median, most]
