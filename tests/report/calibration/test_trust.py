"""What the figures are, and where they are refused."""

import pytest

from tests.for_each import for_each
from tests.report.calibration.labels import of_table


def test_the_figures_of_a_good_judge() -> None:
    trust = of_table((45, 6, 5, 44), more=(200, 100))
    assert trust.agreement == pytest.approx((0.89, 0.814, 0.937), abs=1e-3)
    assert trust.true_pass_rate_of_judge is not None
    assert trust.true_pass_rate_of_judge.value == 0.9
    assert trust.true_fail_rate_of_judge is not None
    assert trust.true_fail_rate_of_judge.value == 0.88
    assert trust.kappa == pytest.approx(0.78)
    assert trust.constant_agreement == 0.5
    assert (trust.pass_rate_by_judge, trust.judged) == (251 / 400, 400)
    assert trust.pass_rate is not None
    assert trust.pass_rate.value == pytest.approx((251 / 400 + 0.88 - 1) / 0.78)
    assert trust.pass_rate.low < 0.65 < trust.pass_rate.high


def test_answers_drawn_by_verdict_are_weighed() -> None:
    """As many fails as passes were labelled, but the run has 780 passes in 1,000."""
    trust = of_table((72, 6, 40, 70), more=(702, 110), by_verdict=True)
    assert (trust.pass_rate_by_judge, trust.judged) == (0.78, 1000)
    assert trust.pass_rate is not None
    assert trust.pass_rate.value == pytest.approx(0.8)
    assert trust.true_pass_rate_of_judge is not None
    assert trust.true_pass_rate_of_judge.value == pytest.approx(0.9)


@for_each("cells", [(30, 2, 3, 7), (7, 3, 2, 30), (40, 5, 0, 0), (5, 0, 0, 0)])
def test_no_interval_of_kappa_with_fewer_than_ten_of_either_kind(
    cells: tuple[int, int, int, int],
) -> None:
    section = of_table(cells, more=(100, 100))
    assert section.kappa_interval is None
    assert "10 of each are needed" in (section.kappa_refused or "")
    assert not section.reaches(-1.0)


@for_each("cells", [(25, 25, 25, 25), (30, 25, 20, 25), (10, 40, 40, 10)])
def test_no_true_rate_unless_the_judge_is_better_than_a_coin(
    cells: tuple[int, int, int, int],
) -> None:
    trust = of_table(cells, more=(100, 100))
    assert trust.pass_rate is None
    assert trust.pass_rate_refused == "the judge is not clearly better than a coin"


def test_the_lower_bound_is_what_a_gate_looks_at() -> None:
    section = of_table((45, 6, 5, 44), more=(10, 10))
    assert section.kappa_interval is not None
    assert section.kappa_interval.low == pytest.approx(0.6192, abs=1e-3)
    assert section.reaches(0.61)
    assert not section.reaches(0.62)


@for_each(
    ("cells", "said"),
    [
        ((0, 0, 0, 0), "Nothing can be said of this judge"),
        ((9, 1, 0, 9), "These labels can't say"),
        ((25, 25, 25, 25), "no better than a coin would"),
        ((50, 50, 0, 0), "no better than a coin would"),
        ((14, 10, 6, 10), "don't show that this judge is better than a coin"),
        ((20, 10, 5, 15), "people a little: kappa is 0.40"),
        (
            (40, 10, 10, 40),
            "fairly well at least: kappa is 0.60, and its 95% interval begins at",
        ),
        (
            (45, 6, 5, 44),
            "people well: kappa is 0.78, and its 95% interval begins at 0.62.",
        ),
        ((100, 2, 3, 95), "agrees with people very well"),
    ],
)
def test_a_sentence_says_what_it_comes_to(cells: tuple[int, int, int, int], said: str) -> None:
    assert said in of_table(cells, more=(10, 10)).verdict
