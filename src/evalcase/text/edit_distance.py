"""How many characters have to be put in, taken out or changed to make one text of another.

A column of the usual table is held as the bits of two numbers (Myers 1999), so that a step of
Python does as many cells at once as the shorter text has characters.
"""

from __future__ import annotations

from collections.abc import Callable

_LOOK_UP_EVERY = 256


def edit_distance(left: str, right: str, is_given_up: Callable[[], bool] | None = None) -> int:
    """The distance. Raise InterruptedError once nobody waits for it any more."""
    left, right = _without_common_ends(left, right)
    if len(left) > len(right):
        left, right = right, left
    if not left:
        return len(right)
    places: dict[str, int] = {}
    for number, char in enumerate(left):
        places[char] = places.get(char, 0) | (1 << number)
    ones, last = (1 << len(left)) - 1, 1 << (len(left) - 1)
    more, less, distance = ones, 0, len(left)
    for number, char in enumerate(right):
        if is_given_up is not None and number % _LOOK_UP_EVERY == 0 and is_given_up():
            raise InterruptedError
        same = places.get(char, 0)
        kept = same | less
        across = ((((same & more) + more) ^ more) | same) & ones
        grown = less | (~(across | more) & ones)
        shrunk = more & across
        distance += bool(grown & last) - bool(shrunk & last)
        grown = ((grown << 1) | 1) & ones
        shrunk = (shrunk << 1) & ones
        more = shrunk | (~(kept | grown) & ones)
        less = grown & kept
    return distance


def _without_common_ends(left: str, right: str) -> tuple[str, str]:
    most = min(len(left), len(right))
    start = next((at for at in range(most) if left[at] != right[at]), most)
    left, right = left[start:], right[start:]
    most = min(len(left), len(right))
    end = next((at for at in range(most) if left[-1 - at] != right[-1 - at]), most)
    return (left[:-end], right[:-end]) if end else (left, right)
