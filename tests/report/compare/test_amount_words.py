from __future__ import annotations

from evalcase.report.differences import Amount, say_ratio, say_seconds
from evalcase.stats.intervals import Estimate
from tests.for_each import for_each


@for_each(
    ("seconds", "said"),
    [
        (0.0, "0 µs"), (0.0000225, "22.5 µs"), (0.011, "11 ms"), (0.25, "0.25 s"),
        (1234.4, "1,234 s"),
    ],
)  # fmt: skip
def test_seconds_of_any_size(seconds: float, said: str) -> None:
    assert say_seconds(seconds) == said


@for_each(
    ("ratio", "said"),
    [
        (Estimate(0.000182, 0.00004, 0.02), "×0.00018 (0.000040 to 0.020)"),
        (Estimate(1.04, 0.97, 12.3), "×1.04 (0.97 to 12.30)"),
        (Estimate(5200.0, 100.0, 99999.0), "×5,200 (100 to 99,999)"),
        (None, "no estimate"),
    ],
)
def test_ratios_of_any_size(ratio: Estimate | None, said: str) -> None:
    assert say_ratio(Amount("latency", 3, None, None, ratio, 0, 0)) == said
