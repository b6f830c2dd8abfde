from __future__ import annotations

from evalcase.report.summary import part_tables
from evalcase.report.terminal import Screen
from tests.report.figures.results import figures, once, priced


def test_a_line_for_each_part() -> None:
    results = once("ppf", target="one", **priced(0.5, 0.25, 5)) + once("pe", target="two")
    assert list(part_tables(figures(results), ["target"], Screen())) == [
        "target  passed  failed  errored  pass rate    interval     cost  median",
        "one          2       1        0      66.7%  20.8–93.9%  $0.7500  0.50 s",
        "two          1       0        1      50.0%   9.5–90.5%        –  0.50 s",
        "",
    ]


def test_tags_suites_and_graders() -> None:
    results = [*once("pf"), *once("p", suite="b.yaml", score=0.5)]
    found = figures(results, {"c0": {"tags": ["x"]}, "c1": {"tags": ["x", "y\x1b"]}})
    assert list(part_tables(found, ["tag", "suite"], Screen())) == [
        "suite   passed  failed  pass rate   interval  score",
        "b.yaml       1       0     100.0%          –   0.50",
        "s.yaml       1       1      50.0%  9.5–90.5%   0.50",
        "",
        "tag        passed  failed  pass rate    interval  score",
        "x               2       1      66.7%  20.8–93.9%   0.50",
        "y<U+001B>       0       1       0.0%           –   0.00",
        "",
    ]
