"""How much work something is, in a number that is the same on every machine, however busy."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


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


def count_lines(work: Callable[[], object]) -> int:
    """Do it; how many lines of Python were gone through meanwhile, each turn of a loop anew.

    Much slower than to count steps, and it sees loops that call nothing.
    """
    lines = 0

    def trace(_: FrameType, event: str, __: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines
