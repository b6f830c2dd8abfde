"""Which of some values on the left goes with which on the right, so that as many as can be do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from evalcase.errors import EvalcaseError

_SMALL, _LARGEST = 10_000, 1_000_000
"""How many pairs there may be: to be looked at in every way, and to be looked at at all."""

Alike = Callable[[int, int], bool]


def pair_up(
    lefts: int, rights: int, are_alike: Alike, begun: Sequence[int | None] = ()
) -> list[int | None]:
    """The partner of each on the left, or None. Each on the right is the partner of one at most.

    Among few, as many as possible are paired; of many, each takes the first that will do. `begun`
    are partners that are known before. Raise EvalcaseError where there are too many to look at.
    """
    found = list(begun) or [None] * lefts
    taken = {right: left for left, right in enumerate(found) if right is not None}
    left_over = [left for left, right in enumerate(found) if right is None]
    if len(left_over) * (rights - len(taken)) > _LARGEST:
        many = f"lists of {lefts:,} and {rights:,} items"
        raise EvalcaseError(f"{many} differ in too many ways to be compared in any order")
    for left in left_over:
        free = (right for right in range(rights) if right not in taken)
        partner = next((right for right in free if are_alike(left, right)), None)
        if partner is not None:
            taken[partner], found[left] = left, partner
    if lefts * rights <= _SMALL and None in found:
        _pair_more(found, taken, rights, are_alike)
    return found


def pair_same(lefts: Sequence[Hashable], rights: Sequence[Hashable]) -> list[int | None]:
    """The partner of each on the left that is the same, in one pass over each side."""
    places: dict[Hashable, list[int]] = {}
    for right in reversed(range(len(rights))):
        places.setdefault(rights[right], []).append(right)
    found = [places.get(left) for left in lefts]
    return [waiting.pop() if waiting else None for waiting in found]


def _pair_more(
    found: list[int | None], taken: dict[int, int], rights: int, are_alike: Alike
) -> None:
    alike = [[right for right in range(rights) if are_alike(left, right)]
             for left in range(len(found))]  # fmt: skip
    for left, partner in enumerate(found):
        if partner is None:
            _find_partner(left, alike, taken, found)


def _find_partner(
    start: int, alike: list[list[int]], taken: dict[int, int], found: list[int | None]
) -> None:
    """Find a partner for one more, by letting others change theirs (an augmenting path)."""
    wooed_by: dict[int, int] = {}
    waiting = [start]
    while waiting:
        left = waiting.pop()
        for right in alike[left]:
            if right in wooed_by:
                continue
            wooed_by[right] = left
            if right not in taken:
                _change_partners(right, start, wooed_by, taken, found)
                return
            waiting.append(taken[right])


def _change_partners(
    right: int, start: int, wooed_by: dict[int, int], taken: dict[int, int], found: list[int | None]
) -> None:
    left = -1
    while left != start:
        left = wooed_by[right]
        before = found[left]
        taken[right], found[left] = left, right
        if before is not None:
            right = before


def match_in_order(lefts: int, rights: int, are_alike: Alike) -> list[int | None]:
    """The partner of each on the left, or None, where partners keep their order.

    As many as possible are matched; where there are too many for that, each takes the first.
    """
    found = _match_first(lefts, rights, are_alike)
    if None in found and lefts * rights <= _SMALL:
        return _match_most(lefts, rights, are_alike)
    return found


def _match_first(lefts: int, rights: int, are_alike: Alike) -> list[int | None]:
    """Each with the first that will do: if all can be matched in order, this matches them."""
    found: list[int | None] = []
    start = 0
    for left in range(lefts):
        at = next((right for right in range(start, rights) if are_alike(left, right)), None)
        found.append(at)
        if at is not None:
            start = at + 1
    return found


def _match_most(lefts: int, rights: int, are_alike: Alike) -> list[int | None]:
    """The longest common subsequence, so that one out of place costs no more than itself."""
    alike = [[are_alike(left, right) for right in range(rights)] for left in range(lefts)]
    most = [[0] * (rights + 1) for _ in range(lefts + 1)]
    for left in reversed(range(lefts)):
        for right in reversed(range(rights)):
            if alike[left][right]:
                most[left][right] = most[left + 1][right + 1] + 1
            else:
                most[left][right] = max(most[left + 1][right], most[left][right + 1])
    found: list[int | None] = []
    start = 0
    for left in range(lefts):
        at = next((right for right in range(start, rights) if alike[left][right]), None)
        if at is not None and most[left][start] == most[left + 1][at + 1] + 1:
            found.append(at)
            start = at + 1
        else:
            found.append(None)
    return found
