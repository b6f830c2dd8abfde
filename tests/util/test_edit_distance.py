from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.util.text import edit_distance

texts = st.text("abé", max_size=12)


def by_the_table(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for number, one in enumerate(left, 1):
        before, row[0] = row[0], number
        for at, other in enumerate(right, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (one != other))
    return row[-1]


@given(texts, texts)
def test_is_what_the_table_says(left: str, right: str) -> None:
    assert edit_distance(left, right) == by_the_table(left, right)


def test_known_distances() -> None:
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == 3
    assert edit_distance("a" * 5000, "b" * 5000) == 5000


def test_is_over_once_nobody_waits() -> None:
    with pytest.raises(InterruptedError):
        edit_distance("a" * 1000, "b" * 1000, lambda: True)
