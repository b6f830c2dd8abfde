from __future__ import annotations

from evalcase.util.text import write_score
from tests.for_each import for_each


@for_each(
    ("score", "beside", "text"),
    [
        (0.0, (), "0"),
        (1.0, (), "1"),
        (0.5, (), "0.5"),
        (1 / 3, (), "0.333"),
        (0.00429738, (), "0.0043"),
        (0.99961, (), "0.9996"),
        (0.79996, (0.8,), "0.79996"),
        (0.8, (0.8,), "0.8"),
        (0.1 + 0.2, (0.3,), "0.30000000000000004"),
    ],
)
def test_a_score_has_few_digits_unless_they_would_say_something_else(
    score: float, beside: tuple[float, ...], text: str
) -> None:
    assert write_score(score, *beside) == text
