"""What a program wrote to its standard error in, the lines that say why it failed out.

The last line is often something else: Node ends with its version, a shell with a prompt, a tool
with a hint where to get help.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_LONGEST = 200
_TRACEBACK = "Traceback (most recent call last):"
_CAUSED = "The above exception was the direct cause of the following exception:"
# At the beginning of a line, and with something to say: `Error: …`, `java.io.IOException: …`,
# `Uncaught TypeError: …`, `fatal: …`, `panic: …`, `error[E0308]: …`, `make: *** …`
_NAMED = re.compile(
    r"(?:Uncaught |Unhandled |Caused by: |Exception in thread \S+ )?"
    r"(?:[\w.$]*(?:Error|Exception|Panic)(?: \[\w+\])?: \S"
    r"|(?:fatal|error|panic|abort)(?:\[\w+\])?: \S"
    r"|thread .* panicked at)",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"\b(?:error|fatal|panic|exception|failed|failure|cannot|can't|could not|couldn't|unable to"
    r"|not found|no such|denied|refused|invalid|missing|undefined|unknown|killed"
    r"|out of memory|timed out|exceeded)\b"
    r"|[a-z](?:Error|Exception)\b",
    re.IGNORECASE,
)


class QuotedLines(NamedTuple):
    before: int
    """How many lines stand before these."""
    lines: list[str]
    after: int


def add_complaint(what: str, stderr: str) -> str:
    """What has happened, and why: by the line that says so. Where none stands out, the last is
    what was written before, and no reason; and where there is none, nothing is added."""
    lines = stderr.strip().splitlines()
    if not lines:
        return what
    number = _find_telling(lines)
    if number is None:
        return f"{what}, after it wrote: {lines[-1].strip()[:_LONGEST]}"
    why = f"{what}: {lines[number].strip()[:_LONGEST]}"
    cause = _find_cause(lines, number)
    return f"{why} (caused by {cause[:_LONGEST]})" if cause else why


def excerpt_complaint(stderr: str, most: int) -> QuotedLines:
    """That line with those around it, blank ones left out: rather what led to it than what
    follows."""
    lines = [line.rstrip() for line in stderr.splitlines() if line.strip()]
    if not lines:
        return QuotedLines(0, [], 0)
    end = min(len(lines), _find_complaint(lines) + 2)
    start = max(0, end - most)
    end = min(len(lines), start + most)
    return QuotedLines(start, lines[start:end], len(lines) - end)


def _find_complaint(lines: list[str]) -> int:
    """The number of the line that says why, or of the last."""
    number = _find_telling(lines)
    return len(lines) - 1 if number is None else number


def _find_telling(lines: list[str]) -> int | None:
    """The number of the line that says why; None where none stands out."""
    for number in (
        _find_raised(lines),
        _find_last(lines, _NAMED.match),
        _find_last(lines, _WORDS.search),
    ):
        if number is not None:
            return number
    return None


def _find_cause(lines: list[str], number: int) -> str:
    """What an exception of Python was raised from, where it says so: the first of the chain."""
    if not any(line.strip() == _CAUSED for line in lines[:number]):
        return ""
    starts = [at for at, line in enumerate(lines[:number]) if line.strip() == _TRACEBACK]
    first = _find_raised(lines, starts[0]) if starts else None
    return "" if first is None or first >= number else lines[first].strip()


def _find_raised(lines: list[str], start: int | None = None) -> int | None:
    """What a traceback of Python ends with: the last, or the one that begins there."""
    starts = [number for number, line in enumerate(lines) if line.strip() == _TRACEBACK]
    if not starts:
        return None
    begun = starts[-1] if start is None else start
    indent = lines[begun].partition("T")[0]
    for number in range(begun + 1, len(lines)):
        rest = lines[number].removeprefix(indent)
        if rest and not rest[0].isspace():
            return number
    return None


def _find_last(lines: list[str], matches: Callable[[str], object]) -> int | None:
    return next((at for at in reversed(range(len(lines))) if matches(lines[at])), None)
