"""Seconds and ratios in, what people read out: any size has digits that say something."""

from __future__ import annotations

from math import floor, log10

from evalcase.report.compare.amounts import Amount


def say_seconds(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f} s"
    if value >= 0.1:
        return f"{value:.2f} s"
    return f"{1000 * value:.3g} ms" if value >= 0.001 else f"{1_000_000 * value:.3g} µs"


def say_ratio(amount: Amount) -> str:
    """Head to base, with its interval."""
    ratio = amount.ratio
    if ratio is None:
        return "no estimate"
    value, low, high = map(_say_times, (ratio.value, ratio.low, ratio.high))
    return f"×{value} ({low} to {high})"


def _say_times(value: float) -> str:
    """With two digits after the point, or as many as show two that are not 0."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 if value <= 0 else max(2, 1 - floor(log10(value)))}f}"
