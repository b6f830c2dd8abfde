"""What statsmodels 0.15 and scikit-learn 1.9 find for the same numbers; too large to be installed
for a test, so what they found is kept in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalcase.report.statistics.kappa import cohen_kappa, fleiss_kappa
from evalcase.report.statistics.means import estimate_difference
from evalcase.report.statistics.wilson import estimate_share

FOUND: dict[str, list[Any]] = json.loads(
    Path(__file__).with_name("oracles.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("hits", "total", "low", "high"), FOUND["wilson"])
def test_wilson(hits: int, total: int, low: float, high: float) -> None:
    """statsmodels: proportion_confint(hits, total, method="wilson")."""
    assert estimate_share(hits, total) == pytest.approx((hits / total, low, high), abs=1e-9)


@pytest.mark.parametrize(("table", "value", "error"), FOUND["cohen"])
def test_cohen(table: list[list[int]], value: float, error: float) -> None:
    """statsmodels: cohens_kappa; scikit-learn has the same value and no error."""
    kappa = cohen_kappa(table)
    assert kappa is not None
    assert kappa[:2] == pytest.approx((value, error), abs=1e-7)


@pytest.mark.parametrize(("rows", "value"), FOUND["fleiss"])
def test_fleiss(rows: list[list[int]], value: float) -> None:
    """statsmodels: fleiss_kappa."""
    subjects = [{"met": met, "not_met": not_met} for met, not_met in rows]
    assert fleiss_kappa(subjects) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("first", "second", "low", "high"), FOUND["welch"])
def test_welch(first: list[float], second: list[float], low: float, high: float) -> None:
    """statsmodels: CompareMeans(…).tconfint_diff(usevar="unequal")."""
    found = estimate_difference(first, second)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02 * (high - low))
