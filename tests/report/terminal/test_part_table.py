from __future__ import annotations

from evalcase.report.summary import part_table, part_tables
from evalcase.report.terminal import Screen
from tests.report.figures.results import figures, once, priced, trial


def test_a_line_for_each_part() -> None:
    results = once("ppf", target="one", **priced(0.5, 0.25, 5)) + once("pe", target="two")
    assert list(part_tables(figures(results), ["target"], Screen())) == [
        "target  passed  failed  errored  pass rate    interval     cost  median",
        "one          2       1        0      66.7%  20.8–93.9%  $0.7500  0.50 s",
        "two          1       0        1      50.0%   9.5–90.5%        –  0.50 s",
        "",
    ]


def test_what_does_not_fit_is_left_out_from_the_right() -> None:
    results = once("pf", target="one") + once("pp", target="a-very-long-name")
    assert list(part_tables(figures(results), ["target"], Screen(40))) == [
        "target         passed  failed  pass rate",
        "one                 1       1      50.0%",
        "a-very-long-…       2       0     100.0%",
        "",
    ]


def test_one_part_is_no_table() -> None:
    assert list(part_tables(figures(once("pf")), ["target", "tag"], Screen())) == []


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


def test_of_many_parts_those_are_shown_that_pass_least() -> None:
    results = [trial(f"c{n}", "f" if n in (3, 14) else "p") for n in range(15)]
    cases = {f"c{n}": {"tags": [f"tag-{n}"]} for n in range(15)}
    lines = list(part_table("tag", figures(results, cases).by_tag, Screen(), None))
    assert len(lines) == 12
    assert [line.split()[0] for line in lines if " 0.0%" in line] == ["tag-3", "tag-14"]
    assert lines[-1] == "and 5 more tags, with higher pass rates"
