"""What is counted, and of what each figure is."""

import pytest

from evalcase.report.figures import Mean
from evalcase.stats.intervals import estimate_share, estimate_units
from evalcase.types.result import Counts
from tests.report.figures.results import figures, grade, once, priced, trial, trials


def wilson(hits: int, total: int) -> Mean:
    found = estimate_share(hits, total)
    assert found is not None
    return Mean(total, *found)


def test_errored_and_ungraded_did_not_pass_and_skipped_was_not_tried() -> None:
    part = figures(once("pppfeuss")).all
    assert part.cases == Counts(8, 3, 1, 1, 1, 2)
    assert part.rate == wilson(3, 6)
    assert part.without_errors == wilson(3, 5)


def test_a_known_example() -> None:
    """Wilson's interval of 182 in 200, to the digit."""
    rate = figures(once("p" * 182 + "f" * 18)).all.rate
    assert rate.low is not None
    assert rate.high is not None
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.8622, 0.9423)


def test_each_case_counts_once_however_often_it_is_tried() -> None:
    results = trials("a", "ppp") + trials("b", "pff", pass_rate=0.3) + trials("c", "pff")
    part = figures(results).all
    assert part.cases == Counts(3, 2, 1)
    assert part.rate == wilson(2, 3)
    assert part.repeats is not None
    assert part.repeats.share.n == 3
    assert part.repeats.share.value == pytest.approx(5 / 9)


def test_a_case_without_all_of_its_trials_is_in_no_figure() -> None:
    results = trials("a", "ppp") + trials("b", "ppp")[:2]
    found = figures(results, {"a": {"tags": ["x"]}, "b": {"tags": ["x", "y"]}})
    assert (found.all.cases.total, found.all.unfinished) == (1, 1)
    assert found.by_tag["x"].unfinished == 1
    assert "y" in found.by_tag
    assert (found.by_tag["y"].cases.total, found.by_tag["y"].unfinished) == (0, 1)


def test_flaky_cases_and_what_several_tries_give() -> None:
    results = (
        trials("a", "ppppp") + trials("b", "pffff") + trials("c", "fffff") + trials("d", "ppppf")
    )
    repeats = figures(results, ks=(1, 2, 5)).all.repeats
    assert repeats is not None
    assert (repeats.cases, repeats.fewest, repeats.most, repeats.flaky) == (4, 5, 5, 2)
    one, two, five = repeats.pass_at
    assert one.any == one.all == repeats.share
    assert one.any.value == pytest.approx(0.5)
    assert two.any.value == pytest.approx((1 + 0.4 + 0 + 1) / 4)
    assert two.all.value == pytest.approx((1 + 0 + 0 + 0.6) / 4)
    assert five.any == wilson(3, 4)
    assert five.all == wilson(1, 4)


def test_scores_are_the_means_of_cases() -> None:
    results = [
        trial("a", "p", 1, repeats=2, score=1.0), trial("a", "f", 2, repeats=2, score=0.5),
        trial("b", "f", score=0.25), trial("c", "e"), trial("d", "u"),
    ]  # fmt: skip
    found = figures(results)
    estimate = estimate_units(2, 1.0, 0.75**2 + 0.25**2)
    assert estimate is not None
    assert found.all.score == Mean(2, *estimate)
    assert found.effort.scores == [0, 0, 1, 0, 0, 0, 0, 1, 0, 0]


def test_by_suite_target_and_tag() -> None:
    """Where the same cases are there at several targets, there is no interval."""
    results = [
        *once("pf", target="one", suite="a.yaml"), *once("pp", target="two", suite="a.yaml"),
        *once("ff", target="two", suite="b.yaml"),
    ]  # fmt: skip
    found = figures(results, {"c0": {"tags": ["x", "x"]}, "c1": {"tags": ["x", "y"]}})
    assert found.all.rate == Mean(6, 0.5)
    assert {name: part.rate for name, part in found.by_target.items()} == {
        "one": wilson(1, 2), "two": wilson(2, 4)
    }  # fmt: skip
    assert {name: part.rate for name, part in found.by_suite.items()} == {
        "a.yaml": Mean(4, 0.75), "b.yaml": wilson(0, 2)
    }  # fmt: skip
    assert {name: part.rate for name, part in found.by_tag.items()} == {
        "x": Mean(6, 0.5), "y": Mean(3, 1 / 3)
    }  # fmt: skip


def test_by_grader() -> None:
    results = [
        trial("a", "f", grades=(grade("x", "p"), grade("y", "f", 0.5))),
        trial("b", "e", grades=(grade("x", "p"), grade("y", "e"))),
        trial("c", "p", grades=(grade("x", "p"), grade("y", "p"), grade("y", "f"))),
    ]
    by_grader = figures(results).by_grader
    assert by_grader["x"].rate == wilson(3, 3)
    assert by_grader["x"].failures_up_to is not None
    y = by_grader["y"]
    assert (y.cases.passed, y.cases.failed, y.cases.errored) == (1, 2, 1)
    assert y.rate.n == 3
    assert y.rate.value == pytest.approx(0.5 / 3)
    assert y.without_errors.n == 2
    assert y.without_errors.value == pytest.approx(0.25)
    assert y.score.n == 2
    assert y.score.value == pytest.approx(0.5)


def test_latency_tokens_and_cost() -> None:
    taken = [(1.0, 0.1, 10), (2.0, None, None), (3.0, 0.2, 20), (9.0, 0.3, 5)]
    results = [trial(str(each[0]), "p", **priced(*each)) for each in taken]
    results += [trial("late", "e", duration_s=120.0)]
    effort = figures(results).effort
    assert (effort.answers, len(effort.durations)) == (4, 4)
    assert (effort.median_s, effort.p95_s, effort.total_s) == (2.5, 9.0, 135.0)
    assert (effort.reported, effort.input_tokens, effort.output_tokens) == (3, 35, 3)
    assert effort.cost_usd == pytest.approx(0.6)
    assert effort.unpriced == 1
