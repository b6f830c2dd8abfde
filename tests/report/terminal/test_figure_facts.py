"""What a summary says of figures, in words."""

from __future__ import annotations

from typing import Any

import pytest

from evalcase.report.figures import Figures, write_rate
from evalcase.report.summary import (
    Fact,
    count_scope,
    draw_bins,
    latency_facts,
    rate_facts,
    repeat_facts,
    score_facts,
    token_facts,
)
from tests.report.figures.results import figures, once, priced, trial, trials
from tests.report.terminal.endings import count


def said(facts: Any) -> list[str]:
    return [f"{label}: {', '.join(parts)}" for label, parts in facts]


def about(*topics: str | None) -> dict[str, dict[str, Any]]:
    known = {f"c{number}": topic for number, topic in enumerate(topics) if topic is not None}
    return {name: {"metadata": {"topic": topic}} for name, topic in known.items()}


def by_topic(letters: str, *topics: str | None) -> Figures:
    return figures(once(letters), about(*topics), "metadata.topic")


def test_a_rate_has_its_interval() -> None:
    assert write_rate(figures(once("p" * 182 + "f" * 18)).all.rate) == "91.0% (86.2–94.2%)"
    assert write_rate(figures(once("p")).all.rate) == "100.0%"
    assert write_rate(figures(once("s")).all.rate) == "–"


def test_the_rate_without_errors() -> None:
    assert said(rate_facts(figures(once("pppfee")))) == [
        "rate: 75.0% (30.1–95.4%) of the 4 cases that did not error"
    ]
    assert said(rate_facts(figures(once("ee")))) == []


def test_no_second_bound_stands_beside_an_interval() -> None:
    """One-sided and exact, it is another number than the end of the interval."""
    found = figures(once("p" * 4)).all
    assert (found.failures_up_to, found.rate.low) == pytest.approx((0.527, 0.510), abs=0.001)
    assert said(rate_facts(figures(once("p" * 4)))) == []
    assert said(rate_facts(figures(once("ppf")))) == []
    assert said(rate_facts(figures([]))) == []


def test_one_case_is_too_few() -> None:
    assert said(rate_facts(figures(once("f")))) == ["rate: no interval: 1 case is too few"]


def test_clusters() -> None:
    rough = "clusters by metadata.topic; with fewer than 10 it is only rough"
    assert said(rate_facts(by_topic("pfpf", "a", "a", "b", None))) == [
        f"rate: the interval is over 3 {rough}",
        ": 1 case has no metadata.topic: each counts as its own cluster",
    ]
    assert said(rate_facts(by_topic("pf", "a", "a"))) == [
        "rate: no interval: one cluster is too few",
        f": the interval is over 1 {rough.replace('clusters', 'cluster')}",
    ]
    many = by_topic("p" * 11, *"abcdefghijk")
    assert said(rate_facts(many)) == [
        "rate: the interval is over 11 clusters by metadata.topic",
    ]


def test_repeats() -> None:
    results = trials("a", "pppp") + trials("b", "ppff") + trials("c", "ffff")
    passed = "50.0% (3.6–96.4%) of them passed, pass@4 66.7% (20.8–93.9%), pass^4 33.3% (6.1–79.2%)"
    others = "27.2 from the choice of cases (more repeats won't lower it)"
    assert said(repeat_facts(figures(results))) == [
        f"repeats: 3 cases, 4 trials each, {passed}",
        f": standard error: 9.6 points from repeating these cases, {others}",
        "flaky: 1 of 3 cases passed in some trials but not in others",
    ]
    assert said(repeat_facts(figures(once("pf")))) == []


def test_of_one_case_nothing_is_said_of_others() -> None:
    assert said(repeat_facts(figures(trials("a", "pf")))) == [
        "repeats: 1 case, 2 trials each, 50.0% of them passed, pass@2 100.0%, pass^2 0.0%",
        "flaky: 1 of 1 case passed in some trials but not in others",
    ]


def test_scores_are_drawn_where_they_are_not_only_0_and_1() -> None:
    scores = [0.05, 0.5, 0.55, 0.9, 0.95, 1.0]
    found = figures(trial(str(score), "p", score=score) for score in scores)
    assert said(score_facts(found.all, found.effort)) == [
        "scores: mean 0.66 (0.29–0.90) of 6 cases  0│▃····▆···█│1"
    ]
    found = figures(once("pppff") + trials("r", "pf"))
    assert list(score_facts(found.all, found.effort)) == []
    found = figures([trial("a", "p", score=0.5)])
    assert list(score_facts(found.all, found.effort)) == [Fact("scores", ["mean 0.50 of 1 case"])]


def test_one_of_a_million_is_seen() -> None:
    assert draw_bins([1, 0, 10**6]) == "▁·█"
    assert draw_bins([0] * 10) == "··········"


def test_what_is_quick_is_no_news() -> None:
    slow = figures(trial(str(s), "p", **priced(s, None, 5)) for s in (0.5, 1.5, 4.0))
    assert said(latency_facts(slow.effort)) == ["latency: median 1.50 s, 95% within 4.00 s"]
    assert said(token_facts(slow.effort)) == ["tokens: 15 in, 3 out"]
    quick = figures(trial(str(s), "p", **priced(s, None, None)) for s in (0.01, 0.02))
    assert said(latency_facts(quick.effort)) == []
    assert said(token_facts(quick.effort)) == []


def test_a_case_is_a_case_however_many_targets_it_has() -> None:
    several = [*once("pfp", target="one"), *once("ppp", target="two")]
    found = figures(several)
    assert count_scope(found, count(several)) == "3 cases × 2 targets = 6 trials"
    repeated = [*trials("a", "pfp"), *trials("b", "ppp")]
    assert count_scope(figures(repeated), count(repeated)) == "2 cases × 3 repeats = 6 trials"
    uneven = [*once("pf", target="one"), *once("p", target="two")]
    assert count_scope(figures(uneven), count(uneven)) == "2 cases at up to 2 targets = 3 trials"
    assert count_scope(figures(once("pf")), count(once("pf"))) == ""
