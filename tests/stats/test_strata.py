from __future__ import annotations

import pytest

from evalcase.stats.agreement import Confusion, Strata, Stratum, cohen_kappa
from evalcase.stats.intervals import estimate_share


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
