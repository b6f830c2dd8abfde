"""What scipy 1.17, statsmodels 0.15 and scikit-learn 1.9 find for the same numbers; too large to be
installed for a test, so what they found is kept in a file."""

import json
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from evalcase.stats.agreement import Fleiss, _measure_counts
from evalcase.stats.intervals import (
    Cluster,
    beta_quantile,
    estimate_clusters,
    estimate_exact_around,
    estimate_share,
    estimate_units,
    share_below,
    t_quantile,
)
from tests.for_each import for_each

FOUND: dict[str, list[Any]] = json.loads(
    Path(__file__).with_name("oracles.json").read_text(encoding="utf-8")
)


@for_each(("hits", "total", "low", "high"), FOUND["wilson"])
def test_wilson(hits: int, total: int, low: float, high: float) -> None:
    """statsmodels: proportion_confint(hits, total, method="wilson")."""
    assert estimate_share(hits, total) == pytest.approx((hits / total, low, high), abs=1e-9)


@for_each(("table", "value", "error"), [each for each in FOUND["cohen"] if len(each[0]) == 2])
def test_cohen(table: list[list[int]], value: float, error: float) -> None:
    """statsmodels: cohens_kappa; scikit-learn has the same value and no error."""
    found = _measure_counts([*table[0], *table[1]], 0)
    assert found is not None
    assert (found[0], sqrt(found[1])) == pytest.approx((value, error), abs=1e-7)


@for_each(("rows", "value"), FOUND["fleiss"])
def test_fleiss(rows: list[list[int]], value: float) -> None:
    """statsmodels: fleiss_kappa."""
    votes = Fleiss()
    for met, not_met in rows:
        votes.add({"met": met, "not_met": not_met})
    assert votes.kappa == pytest.approx(value, abs=1e-12)


@for_each(("freedom", "value"), FOUND["t"])
def test_student(freedom: float, value: float) -> None:
    """scipy: stats.t.ppf(0.975, freedom)."""
    assert t_quantile(freedom) == pytest.approx(value, rel=1e-9)


@for_each(("x", "a", "b", "share"), FOUND["beta_below"])
def test_incomplete_beta(x: float, a: float, b: float, share: float) -> None:
    """scipy: special.betainc(a, b, x)."""
    assert share_below(x, a, b) == pytest.approx(share, rel=1e-9, abs=1e-12)


@for_each(("share", "a", "b", "x"), FOUND["beta_quantile"])
def test_beta_quantile(share: float, a: float, b: float, x: float) -> None:
    """scipy: special.betaincinv(a, b, share)."""
    assert beta_quantile(share, a, b) == pytest.approx(x, rel=1e-11)


@for_each(("hits", "total", "low", "high"), FOUND["exact"])
def test_clopper_and_pearson(hits: int, total: int, low: float, high: float) -> None:
    """scipy: binomtest(hits, total).proportion_ci(0.95, "exact")."""
    assert estimate_exact_around(hits / total, total) == pytest.approx(
        (hits / total, low, high), abs=1e-12
    )


@for_each(("values", "low", "high"), FOUND["units"])
def test_units(values: list[float], low: float, high: float) -> None:
    """statsmodels: the standard error of OLS(values, 1), and proportion_confint for the effective
    size that follows from it with scipy's t."""
    found = estimate_units(len(values), sum(values), sum(value**2 for value in values))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@for_each(("values", "groups", "low", "high"), FOUND["clusters"])
def test_clusters(values: list[float], groups: list[int], low: float, high: float) -> None:
    """The same with OLS(values, 1).fit(cov_type="cluster")."""
    found = estimate_clusters(_gather(values, groups))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def _gather(values: list[float], groups: list[int]) -> list[Cluster]:
    members = [[v for v, g in zip(values, groups, strict=True) if g == of] for of in set(groups)]
    return [Cluster(len(held), sum(held)) for held in members]
