"""What nobody expected, told on standard error: where it was raised, and what it may mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

CRASH_CODE = 3
"""What was asked for was not completed; 1 would be a verdict."""
_WHY = "this is a bug in evalcase, unless code of a target or a grader has modified evalcase itself"


def tell_crash(
    error: BaseException, stream: TextIO, scrub: Callable[[str], str] = lambda text: text
) -> str:
    """Tell of it, and return it in a few words."""
    from evalcase.cli.terminal import write_prose
    from evalcase.util.errors import failure_of
    from evalcase.util.text import make_visible

    failure = failure_of(error)
    said = scrub(failure.message)
    trace: list[str] = failure.details.get("traceback", [])
    stream.writelines(make_visible(scrub(line)) + "\n" for line in trace)
    write_prose(f"evalcase: can't continue: {said}; {_WHY}", stream)
    return said
