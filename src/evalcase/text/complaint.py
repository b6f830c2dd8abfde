"""What a program wrote to its standard error in, the one line that says why it failed out.

The last line is often something else: Node ends with its version, a shell with a prompt, a tool
with a hint where to get help.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TRACEBACK = "Traceback (most recent call last):"
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
    r"|not found|no such|denied|refused|invalid|missing|undefined|unknown|killed)\b"
    r"|[a-z](?:Error|Exception)\b",
    re.IGNORECASE,
)


def find_complaint(stderr: str) -> str:
    """The line that says why; the last where none stands out; empty where there is nothing."""
    lines = stderr.strip().splitlines()
    if not lines:
        return ""
    named = _raised(lines) or _find_last(lines, _NAMED.match)
    return (named or _find_last(lines, _WORDS.search) or lines[-1]).strip()


def _raised(lines: list[str]) -> str | None:
    """What the last traceback of Python ends with."""
    starts = [number for number, line in enumerate(lines) if line.strip() == _TRACEBACK]
    if not starts:
        return None
    indent = lines[starts[-1]].partition("T")[0]
    for line in lines[starts[-1] + 1 :]:
        rest = line.removeprefix(indent)
        if rest and not rest[0].isspace():
            return line
    return None


def _find_last(lines: list[str], matches: Callable[[str], object]) -> str | None:
    return next((line for line in reversed(lines) if matches(line)), None)
