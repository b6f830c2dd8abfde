from __future__ import annotations

import pytest

from evalcase.report.statistics.by_verdict import Weighed
from evalcase.report.statistics.confusion import Confusion
from evalcase.report.statistics.kappa import cohen_kappa
from evalcase.report.statistics.wilson import estimate_share


def test_with_every_answer_labelled_it_is_what_the_table_says() -> None:
    table = Confusion(140, 20, 15, 85)
    weighed = Weighed(table, passed=160, judged=260)
    kappa, plain = weighed.kappa(), cohen_kappa(table.rows)
    assert kappa is not None
    assert plain is not None
    assert kappa.value == pytest.approx(plain.value)
    assert kappa.standard_error == pytest.approx(plain.standard_error, rel=0.05)
    for found, hits, total in (
        (weighed.estimate_share(), 155, 260), (weighed.estimate_agreement(), 225, 260),
        (weighed.estimate_true_passes(), 140, 155), (weighed.estimate_true_fails(), 85, 105),
    ):  # fmt: skip
        assert found == pytest.approx(estimate_share(hits, total), abs=0.02)
        assert found is not None
        assert found.value == pytest.approx(hits / total)


def test_rare_fails_that_were_all_looked_at_are_not_taken_for_frequent() -> None:
    """800 of 1,000 answers are good; of those 0.9 are passed, of the others 0.7 are failed. So 780
    pass, and of 78 labelled ones 72 are good; 220 fail, and of 110 labelled ones 40 are."""
    weighed = Weighed(Confusion(72, 6, 40, 70), passed=780, judged=1000)
    assert weighed.share == pytest.approx(0.8)
    passes, fails = weighed.estimate_true_passes(), weighed.estimate_true_fails()
    assert passes is not None
    assert fails is not None
    assert passes.value == pytest.approx(0.9)
    assert fails.value == pytest.approx(0.7)
    kappa = weighed.kappa()
    assert kappa is not None
    assert kappa.value == pytest.approx((0.86 - 0.668) / (1 - 0.668))


def test_an_empty_cell_is_no_certainty() -> None:
    weighed = Weighed(Confusion(20, 0, 0, 20), passed=500, judged=1000)
    kappa = weighed.kappa()
    assert kappa is not None
    assert kappa.value == 1.0
    assert kappa.interval.low < 0.95
    assert weighed.estimate_agreement().low < 0.95


def test_there_is_no_rate_of_what_is_not_there() -> None:
    assert Weighed(Confusion(20, 0, 20, 0), 50, 100).estimate_true_fails() is None
    assert Weighed(Confusion(0, 20, 0, 20), 50, 100).estimate_true_passes() is None
