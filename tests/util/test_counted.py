from __future__ import annotations

from evalcase.util.text import list_some, write_count
from tests.for_each import for_each


@for_each(
    ("number", "said"),
    [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (12_345, "12,345 cases")],
)
def test_a_number_has_its_noun(number: int, said: str) -> None:
    assert write_count(number, "case") == said


@for_each(
    ("count", "said"),
    [(2, "a, b"), (1, "a, b"), (3, "a, b and 1 more"), (2_002, "a, b and 2,000 more")],
)
def test_some_names_stand_for_all(count: int, said: str) -> None:
    assert list_some(iter("ab"), count) == said
