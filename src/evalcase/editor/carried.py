"""Places of an earlier text in a later one, while what was written in between can't be read: what
stands above the change keeps its line, and what is below it moves along."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def carry_lines(before: Sequence[str], now: Sequence[str]) -> Callable[[int], int | None]:
    """What turns the number of a line into its number now; None for one that was changed."""
    most = min(len(before), len(now))
    above = next((at for at in range(most) if before[at] != now[at]), most)
    left = most - above
    below = next((at for at in range(left) if before[-1 - at] != now[-1 - at]), left)
    shift = len(now) - len(before)

    def carry(line: int) -> int | None:
        if line < above:
            return line
        return line + shift if line >= len(before) - below else None

    return carry
