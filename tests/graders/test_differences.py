"""Lists in any order: who finds a partner, and that it is found without trying everything."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.graders.differences import Lenience, are_within, find_differences
from evalcase.types.value import JSON
from tests.for_each import for_each

scalars = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", 0.5, 1.0])
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=8,
)
LOOSE = Lenience(unordered=True)


def differences(expected: JSON, got: JSON, lenience: Lenience = LOOSE) -> list[str]:
    return [str(each) for each in find_differences(expected, got, lenience)]


def shuffled(value: JSON, dice: random.Random) -> JSON:
    if isinstance(value, dict):
        return {key: shuffled(each, dice) for key, each in reversed(value.items())}
    if isinstance(value, list):
        mixed = [shuffled(each, dice) for each in value]
        dice.shuffle(mixed)
        return mixed
    return float(value) if type(value) is int else value


@given(values, st.randoms(use_true_random=False))
def test_order_does_not_matter_at_any_depth(value: JSON, dice: random.Random) -> None:
    for lenience in (LOOSE, Lenience((), True, extra=True), Lenience((), True, within=0.1)):
        assert differences(value, shuffled(value, dice), lenience) == []


def sorted_all_through(value: JSON) -> Any:
    """A form that is the same for values that differ by order alone."""
    if isinstance(value, dict):
        return "m", sorted((key, repr(sorted_all_through(each))) for key, each in value.items())
    if isinstance(value, list):
        return "l", sorted(repr(sorted_all_through(each)) for each in value)
    return ("b" if isinstance(value, bool) else "v", value + 0 if type(value) is float else value)


@given(values, values)
def test_only_order_does_not_matter(left: JSON, right: JSON) -> None:
    alike = sorted_all_through(_whole(left)) == sorted_all_through(_whole(right))
    assert (differences(left, right) == []) is alike
    # With keys and margins that never are of use, each is held against each: the same comes of it.
    assert (differences(left, right, Lenience((), True, within=1e-9)) == []) is alike


def _whole(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if type(value) is float and value.is_integer() else value


def rows(count: int) -> list[JSON]:
    return [{"id": n, "tags": [f"{n} {m}" for m in range(count)]} for n in range(count)]


def turned(several: list[Any]) -> list[JSON]:
    return [{**each, "tags": each["tags"][::-1]} for each in several[::-1]]


@pytest.mark.parametrize("more", [{}, {"extra": True}, {"within": 0.5}])
def test_lists_in_lists_are_not_held_against_each_other_one_by_one(
    more: dict[str, Any],
) -> None:
    assert differences(rows(60), turned(rows(60)), Lenience((), True, **more)) == []


def test_nested_lists_are_compared_in_time() -> None:
    left: JSON = 'a"b'
    right: JSON = 'a"c'
    for _ in range(40):
        left, right = [left, "x"], [right, "x"]
    assert len(differences(left, right)) == 2
    assert differences(left, left) == []


def test_paths_name_every_item_of_a_list_in_any_order() -> None:
    ignoring = Lenience((("*", "id"),), True)
    assert differences([{"id": 1, "a": 1}, {"a": 2}], [{"id": 7, "a": 2}, {"a": 1}], ignoring) == []
    inner = Lenience((), (("*",),))
    assert differences([[1, 2], [3, 4]], [[2, 1], [4, 3]], inner) == []
    assert differences([[1, 2], [3, 4]], [[4, 3], [2, 1]], inner) != []


@for_each(
    ("left", "right", "margin", "is_within"),
    [
        (1, 1.1, 0.1, True), (1.1, 1, 0.1, True), (1, 1.11, 0.1, False), (0.1 + 0.2, 0.3, 0, True),
        (2**53, 2**53 + 1, 0, False), (2.0**53, 2**53 + 1, 0, False), (10**400, 10**400, 0, True),
        (10**400, 10**400 + 1, 1, True), (10**400, 0.5, 1, False), (-1, 1, 2, True),
        (1e22, 10**22, 0, True), (1700000000000001, 1700000000000002, 0, False),
        (10000, 10057, 10000 * 0.57 / 100, True),
    ],
)  # fmt: skip
def test_whole_numbers_are_exact(left: Any, right: Any, margin: float, is_within: bool) -> None:
    assert are_within(left, right, margin) is is_within
