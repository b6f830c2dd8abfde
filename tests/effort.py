"""How much work something is, in a number that is the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def count_steps(work: Callable[[], object]) -> int:
    """Do it; how many functions were called and returned from meanwhile, those in C included."""
    steps = 0

    def count(_: FrameType, __: str, ___: object) -> None:
        nonlocal steps
        steps += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return steps
