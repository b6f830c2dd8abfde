"""What a summary says of figures, in words."""

from typing import Any

from evalcase.report.figures import Figures, write_rate
from evalcase.report.summary import count_scope, figure_facts, rate_facts
from tests.report.figures.results import figures, once, trials
from tests.report.terminal.endings import count


def said(facts: Any) -> list[str]:
    return [f"{label}: {text}" for label, text in facts]


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


def test_clusters() -> None:
    rough = "clusters by metadata.topic; with fewer than 10 it is only rough"
    assert said(rate_facts(by_topic("pfpf", "a", "a", "b", None))) == [
        f"rate: the interval is over 3 {rough}",
        "rate: 1 case has no metadata.topic: each counts as its own cluster",
    ]
    assert said(rate_facts(by_topic("pf", "a", "a"))) == [
        "rate: no interval: one cluster is too few",
        f"rate: the interval is over 1 {rough.replace('clusters', 'cluster')}",
    ]
    many = by_topic("p" * 11, *"abcdefghijk")
    assert said(rate_facts(many)) == [
        "rate: the interval is over 11 clusters by metadata.topic",
    ]


def test_repeats() -> None:
    results = trials("a", "pppp") + trials("b", "ppff") + trials("c", "ffff")
    passed = "50.0% (3.6–96.4%) of them passed, pass@4 66.7% (20.8–93.9%), pass^4 33.3% (6.1–79.2%)"
    others = "27.2 from the choice of cases (more repeats won't lower it)"
    assert said(figure_facts(figures(results), count(results)))[1:4] == [
        f"repeats: 3 cases, 4 trials each, {passed}",
        f"repeats: standard error: 9.6 points from repeating these cases, {others}",
        "flaky: 1 of 3 cases passed in some trials but not in others",
    ]
    assert said(figure_facts(figures(once("pf")), count(once("pf")), verbose=False)) == []


def test_a_case_is_a_case_however_many_targets_it_has() -> None:
    several = [*once("pfp", target="one"), *once("ppp", target="two")]
    found = figures(several)
    assert count_scope(found, count(several)) == "3 cases × 2 targets = 6 trials"
    repeated = [*trials("a", "pfp"), *trials("b", "ppp")]
    assert count_scope(figures(repeated), count(repeated)) == "2 cases × 3 repeats = 6 trials"
    uneven = [*once("pf", target="one"), *once("p", target="two")]
    assert count_scope(figures(uneven), count(uneven)) == "3 pairs of case and target = 3 trials"
    assert count_scope(figures(once("pf")), count(once("pf"))) == ""
    assert count_scope(figures(once("pfs")), count(once("pfs"))) == ""


def test_where_targets_have_different_cases_pairs_are_counted() -> None:
    one = [*trials("a", "pf", target="one"), *trials("b", "pf", target="one")]
    uneven = [*one, *trials("a", "pf", target="two"), *trials("c", "ss", target="two")]
    found = figures(uneven)
    pairs = "3 pairs of case and target"
    assert count_scope(found, count(uneven)) == f"{pairs} × 2 repeats = 6 trials"
    _, trial_counts, repeats, *_, flaky = said(figure_facts(found, count(uneven), verbose=False))
    assert repeats.startswith(f"repeats: {pairs}, 2 trials each")
    assert flaky == f"flaky: 3 of {pairs} passed in some trials but not in others"
    assert trial_counts == "trials: 6 in all, 3 passed, 3 failed"
