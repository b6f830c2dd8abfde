from __future__ import annotations

from collections import Counter
from math import sqrt
from random import Random

import pytest

from evalcase.report.statistics.confusion import Confusion, count_pairs
from evalcase.report.statistics.fleiss import fleiss_kappa
from evalcase.report.statistics.kappa import cohen_kappa
from tests.for_each import for_each

COHEN_1960 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
"""Two psychologists on 200 patients: 0.70 agreed, 0.41 by chance."""

FLEISS_1971 = """
444444 222555 233335 555555 222444 113333 333355 113334 114444 555555
144444 124444 222333 144444 224445 333335 111455 111112 224444 133555
555555 244444 224555 114444 144445 222224 111155 224444 133333 555555
"""
"""Thirty patients, each by six psychiatrists with five diagnoses."""


def test_the_example_of_cohen() -> None:
    kappa = cohen_kappa(COHEN_1960)
    assert kappa is not None
    assert round(kappa.value, 3) == 0.492


def test_the_example_of_fleiss() -> None:
    kappa = fleiss_kappa(Counter(patient) for patient in FLEISS_1971.split())
    assert kappa is not None
    assert round(kappa, 3) == 0.430


def test_two_perfect_judges_agree_wholly() -> None:
    kappa = cohen_kappa(Confusion(20, 0, 0, 30).rows)
    assert kappa is not None
    assert kappa[:2] == (1.0, 0.0)


@for_each(("each", "low"), [(10, 0.67), (50, 0.92), (500, 0.99)])
def test_few_labels_prove_no_perfection(each: int, low: float) -> None:
    """The error is 0 then, but what one is sure of is by Wilson's bound of the agreement."""
    kappa = cohen_kappa([[each, 0], [0, each]])
    assert kappa is not None
    assert low < kappa.interval.low < low + 0.01


def test_what_it_surely_is_is_seldom_too_much() -> None:
    """Of 100 labels five are wrong on the average; a bound may be above the truth in one of forty
    samples, and by the error alone it is in one of nine."""
    random, above, alone = Random(11), 0, 0
    for _ in range(1000):
        people = [random.random() < 0.5 for _ in range(100)]
        table = count_pairs((each == (random.random() < 0.95), each) for each in people)
        kappa = cohen_kappa(table.rows)
        assert kappa is not None
        above += kappa.interval.low > 0.9
        alone += kappa._replace(cap=1.0).interval.low > 0.9
    assert above <= 40
    assert alone >= 80


def test_a_judge_that_always_passes_is_as_good_as_chance() -> None:
    kappa = cohen_kappa(Confusion(90, 10, 0, 0).rows)
    assert kappa is not None
    assert kappa.value == pytest.approx(0.0)


@for_each("table", [[[0, 0], [0, 0]], [[30, 0], [0, 0]], [[0, 0], [0, 7]]])
def test_there_is_none_where_nothing_varies(table: list[list[int]]) -> None:
    assert cohen_kappa(table) is None


def test_the_error_shrinks_with_the_root_of_the_labels() -> None:
    few, many = cohen_kappa([[40, 10], [5, 45]]), cohen_kappa([[4000, 1000], [500, 4500]])
    assert few is not None
    assert many is not None
    assert few.standard_error / many.standard_error == pytest.approx(sqrt(100))


def test_votes_of_one_say_nothing_of_agreement() -> None:
    assert fleiss_kappa([{"met": 1}, {"not_met": 1}]) is None
    assert fleiss_kappa([{"met": 3}, {"met": 3}]) is None
    several = fleiss_kappa([{"met": 3}, {"not_met": 5}, {"met": 1}])
    assert several == pytest.approx(1.0)


def test_pairs_are_counted_by_who_says_what() -> None:
    pairs = [(True, True)] * 4 + [(True, False)] * 3 + [(False, True)] * 2 + [(False, False)]
    table = count_pairs(pairs)
    assert table == Confusion(true_passes=4, false_passes=3, false_fails=2, true_fails=1)
    assert (sum(table.rows[0]), table.people_passed, table.agreed, table.total) == (7, 6, 5, 10)
