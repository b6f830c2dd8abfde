"""What a program wrote to its standard error in, the lines that say why it failed out.

The last line is often something else: Node ends with its version, a shell with a prompt, a tool
with a hint where to get help.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from evalcase.model.quick_tuple import NamedTuple
from evalcase.text.late_pattern import late_pattern

_TRACEBACK = "Traceback (most recent call last):"
# At the beginning of a line, and with something to say: `Error: …`, `java.io.IOException: …`,
# `Uncaught TypeError: …`, `fatal: …`, `panic: …`, `error[E0308]: …`, `make: *** …`
_NAMED = late_pattern(
    r"(?:Uncaught |Unhandled |Caused by: |Exception in thread \S+ )?"
    r"(?:[\w.$]*(?:Error|Exception|Panic)(?: \[\w+\])?: \S"
    r"|(?:fatal|error|panic|abort)(?:\[\w+\])?: \S"
    r"|thread .* panicked at)",
    re.IGNORECASE,
)
_WORDS = late_pattern(
    r"\b(?:error|fatal|panic|exception|failed|failure|cannot|can't|could not|couldn't|unable to"
    r"|not found|no such|denied|refused|invalid|missing|undefined|unknown|killed)\b"
    r"|[a-z](?:Error|Exception)\b",
    re.IGNORECASE,
)


class QuotedLines(NamedTuple):
    before: int
    """How many lines stand before these."""
    lines: list[str]
    after: int


def find_complaint(stderr: str) -> str:
    """The line that says why; the last where none stands out; empty where there is nothing."""
    lines = stderr.strip().splitlines()
    return lines[_find(lines)].strip() if lines else ""


def excerpt_complaint(stderr: str, most: int) -> QuotedLines:
    """That line with those around it, blank ones left out: rather what led to it than what
    follows."""
    lines = [line.rstrip() for line in stderr.splitlines() if line.strip()]
    if not lines:
        return QuotedLines(0, [], 0)
    end = min(len(lines), _find(lines) + 2)
    start = max(0, end - most)
    end = min(len(lines), start + most)
    return QuotedLines(start, lines[start:end], len(lines) - end)


def _find(lines: list[str]) -> int:
    """The number of the line that says why."""
    for number in (_raised(lines), _last(lines, _NAMED.match), _last(lines, _WORDS.search)):
        if number is not None:
            return number
    return len(lines) - 1


def _raised(lines: list[str]) -> int | None:
    """What the last traceback of Python ends with."""
    starts = [number for number, line in enumerate(lines) if line.strip() == _TRACEBACK]
    if not starts:
        return None
    indent = lines[starts[-1]].partition("T")[0]
    for number in range(starts[-1] + 1, len(lines)):
        rest = lines[number].removeprefix(indent)
        if rest and not rest[0].isspace():
            return number
    return None


def _last(lines: list[str], matches: Callable[[str], object]) -> int | None:
    return next((at for at in reversed(range(len(lines))) if matches(lines[at])), None)
