"""Two runs of the same cases: intervals, tests and planning, to the digit."""

import json
from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import pytest

from benchmarks.paired import Clusters, cover_changes, cover_clusters, cover_verdicts
from evalcase.stats.agreement import Confusion, Strata, Stratum, cohen_kappa
from evalcase.stats.intervals import Cluster, estimate_share
from evalcase.stats.paired import (
    Change,
    Ratios,
    adjust_p_values,
    cases_for_verdicts,
    estimate_clustered,
    estimate_scores,
    estimate_verdicts,
    mcnemar_p,
    sign_flip_p,
    visible_in_scores,
    visible_in_verdicts,
)
from tests.for_each import for_each

FOUND: dict[str, list[Any]] = json.loads(
    Path(__file__).with_name("paired_oracles.json").read_text(encoding="utf-8")
)
"""What scipy 1.16 finds for the same numbers."""


def change_of(differences: list[float]) -> Change:
    squares = sum(each * each for each in differences)
    largest = max(map(abs, differences))
    found = estimate_scores(len(differences), sum(differences), squares, largest)
    assert found is not None
    return found


def flip(differences: list[float], seed: int = 0) -> float:
    return sign_flip_p(Counter(map(abs, differences)), sum(differences), seed)


# The example: 9 fixed and 3 broken of 200


def test_the_example_has_its_interval() -> None:
    change = estimate_verdicts(9, 3, 200)
    assert change is not None
    assert [round(100 * each, 1) for each in change[:3]] == [3.0, -0.6, 6.6]


def test_the_example_has_its_p() -> None:
    assert round(mcnemar_p(9, 3), 3) == 0.146


def test_the_example_could_have_shown_five_points() -> None:
    change = estimate_verdicts(9, 3, 200)
    assert change is not None
    assert round(100 * visible_in_scores(change.error, 0.05), 1) == 5.2


# Intervals


def test_clusters_of_one_case_are_cases() -> None:
    differences = [0.5, -0.2, 0.1, 0.0]
    clustered = estimate_clustered([Cluster(1, each) for each in differences])
    assert clustered == pytest.approx(change_of(differences))


def test_cases_that_change_together_say_less() -> None:
    together = estimate_clustered([Cluster(5, 5.0), Cluster(5, -5.0), *[Cluster(5, 0.0)] * 8])
    apart = estimate_verdicts(5, 5, 50)
    assert together is not None
    assert apart is not None
    assert together.error > 2 * apart.error


# Tests


@for_each(("fixed", "broken", "p"), FOUND["mcnemar"])
def test_mcnemar(fixed: int, broken: int, p: float) -> None:
    """scipy: binomtest(min(fixed, broken), fixed + broken, 0.5)."""
    assert mcnemar_p(fixed, broken) == pytest.approx(p, abs=1e-9)


@for_each(("differences", "p"), FOUND["sign_flip"])
def test_few_signs_are_all_counted(differences: list[float], p: float) -> None:
    """scipy: permutation_test(…, permutation_type="samples")."""
    assert flip(differences) == pytest.approx(p, abs=1e-12)


def test_drawn_signs_come_near_and_are_the_same_each_time() -> None:
    differences = [1.0] * 40 + [-1.0] * 20
    drawn = flip(differences)
    assert drawn == pytest.approx(mcnemar_p(40, 20), abs=0.005)
    assert drawn == flip(differences)
    singles = [each + number / 1e13 for number, each in enumerate(differences)]
    assert flip(singles) == pytest.approx(drawn, abs=0.005)


def test_holm() -> None:
    assert adjust_p_values([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert adjust_p_values([0.9, 0.8]) == [1.0, 1.0]
    assert adjust_p_values([0.2]) == [0.2]
    assert adjust_p_values([]) == []


# Planning


def test_planning() -> None:
    """Connor's 626, corrected for continuity."""
    assert cases_for_verdicts(0.2, 0.05, 0.05) == 665


# Ratios


@for_each(("base", "head", "mean", "low", "high"), FOUND["ratios"])
def test_ratios(base: list[float], head: list[float], mean: float, low: float, high: float) -> None:
    """scipy: t.interval of the logarithms."""
    ratios = Ratios()
    for one, other in zip(base, head, strict=True):
        ratios.add(one, other)
    known = pytest.approx((mean, low, high), rel=1e-9)
    assert ratios.estimate() == (known if len(base) >= 6 else None)


def test_ratios_that_do_not_vary_tell_nothing_of_others() -> None:
    ratios = Ratios()
    for base in (0.1, 0.3, 7, 1.1, 0.7, 13, 1e-6, 2.9):
        ratios.add(base, 2 * base)
    assert ratios.estimate() is None
    ratios.add(1, 2.00001)
    assert ratios.estimate() is not None


# How often they hold what they say: the benchmark `paired` has the whole table


@pytest.mark.parametrize(("pairs", "fixed", "broken"), [(10, 0.1, 0.1), (50, 0.05, 0.0)])
def test_intervals_of_verdicts_hold_the_truth(pairs: int, fixed: float, broken: float) -> None:
    assert cover_verdicts(pairs, fixed, broken, 400, seed=5) >= 0.92


def test_intervals_of_scores_hold_the_truth() -> None:
    assert cover_changes(30, 0.2, 400, seed=5) >= 0.91


@pytest.mark.parametrize("size", [2, 10])
def test_intervals_of_clusters_hold_the_truth(size: int) -> None:
    assert cover_clusters(Clusters(10, size, 0.2, 0.1, 1.0), 400, seed=5) >= 0.92


# Mcnemar power


def count_power(pairs: int, changing: float, effect: float) -> float:
    """How often the exact test finds an effect, over all that may come of the pairs."""
    changing = max(changing, effect)
    up, down = (changing + effect) / 2, (changing - effect) / 2
    return sum(
        comb(pairs, fixed) * comb(pairs - fixed, broken)
        * up**fixed * down**broken * (1 - up - down) ** (pairs - fixed - broken)
        for fixed in range(pairs + 1)
        for broken in range(pairs - fixed + 1)
        if fixed > broken and mcnemar_p(fixed, broken) < 0.05
    )  # fmt: skip


@for_each(("pairs", "changing"), [(8, 0.2), (12, 0.7), (30, 0.1), (30, 0.4), (60, 0.05)])
def test_a_visible_change_is_found_four_times_out_of_five(pairs: int, changing: float) -> None:
    effect = visible_in_verdicts(pairs, changing, 0.05)
    assert effect is not None
    assert 0.8 <= count_power(pairs, changing, effect) < 0.96


@for_each(("changing", "effect"), [(0.3, 0.3), (0.6, 0.4), (0.2, 0.2)])
def test_so_many_cases_are_enough(changing: float, effect: float) -> None:
    assert count_power(cases_for_verdicts(changing, effect, 0.05), changing, effect) >= 0.8


# Strata


def by_verdict(table: Confusion, rate: float, judged: int) -> Strata:
    """Drawn by what this very judge says, which passes that share."""
    passes = Stratum(rate, Confusion(table.true_passes, table.false_passes, 0, 0))
    fails = Stratum(1 - rate, Confusion(0, 0, table.false_fails, table.true_fails))
    return Strata((passes, fails), judged)


@pytest.mark.parametrize("kinds", [1, 2])
def test_with_every_answer_labelled_it_is_what_the_table_says(kinds: int) -> None:
    table = Confusion(140, 20, 15, 85)
    plain = cohen_kappa(table)
    whole = Strata((Stratum(1.0, table),), 260)
    strata = whole if kinds == 1 else by_verdict(table, 160 / 260, 260)
    kappa = strata.kappa()
    assert kappa is not None
    assert plain is not None
    assert kappa.value == pytest.approx(plain.value)
    assert kappa.low == pytest.approx(plain.low, abs=0.02)
    for found, hits, total in (
        (strata.estimate_people(), 155, 260), (strata.estimate_agreement(), 225, 260),
        (strata.estimate_true_passes(), 140, 155), (strata.estimate_true_fails(), 85, 105),
    ):  # fmt: skip
        assert found == pytest.approx(estimate_share(hits, total), abs=0.02)
        assert found is not None
        assert found.value == pytest.approx(hits / total)


def test_rare_fails_that_were_all_looked_at_are_not_taken_for_frequent() -> None:
    """800 of 1,000 answers are good; of those 0.9 are passed, of the others 0.7 are failed. So 780
    pass, and of 78 labelled ones 72 are good; 220 fail, and of 110 labelled ones 40 are."""
    strata = by_verdict(Confusion(72, 6, 40, 70), 0.78, 1000)
    assert strata.people == pytest.approx(0.8)
    passes, fails = strata.estimate_true_passes(), strata.estimate_true_fails()
    assert passes is not None
    assert fails is not None
    assert passes.value == pytest.approx(0.9)
    assert fails.value == pytest.approx(0.7)
    kappa = strata.kappa()
    assert kappa is not None
    assert kappa.value == pytest.approx((0.86 - 0.668) / (1 - 0.668))
