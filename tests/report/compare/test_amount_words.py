from __future__ import annotations

import pytest

from evalcase.report.compare.amount_words import say_ratio, say_seconds
from evalcase.report.compare.amounts import Amount, Ratio


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "0 µs"), (0.0000225, "22.5 µs"), (0.011, "11 ms"), (0.25, "0.25 s"), (1234.5, "1,234 s")],
)  # fmt: skip
def test_seconds_of_any_size(seconds: float, said: str) -> None:
    assert say_seconds(seconds) == said
