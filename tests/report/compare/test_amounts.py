from __future__ import annotations

from evalcase.report.differences import Amounts
from tests.for_each import for_each


@for_each(
    ("name", "pair", "has_ratio", "is_short"),
    [
        ("latency", (0.000015, 0.000005), False, True),
        ("latency", (0.000015, 0.005), True, False),
        ("latency", (1.2, 2.4), True, False),
        ("cost", (0.00002, 0.00004), True, False),
    ],
)
def test_a_ratio_of_microseconds_is_one_of_machines(
    name: str, pair: tuple[float, float], has_ratio: bool, is_short: bool
) -> None:
    amounts = Amounts(name)
    for factor in (1.0, 1.1, 0.9):
        amounts.add(factor * pair[0], pair[1])
    found = amounts.measure()
    assert (found.ratio is not None, found.is_short) == (has_ratio, is_short)


def test_one_slow_answer_of_many_quick_ones_is_shown_without_a_ratio() -> None:
    amounts = Amounts("latency")
    for seconds in (0.0001, 0.0002, 2.0):
        amounts.add(seconds, seconds)
    found = amounts.measure()
    assert (found.ratio, found.is_short) == (None, False)
