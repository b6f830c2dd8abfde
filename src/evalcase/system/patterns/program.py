"""Searches texts for patterns, one request a line, in a process that the system ends at its limit.

Nothing in Python can interrupt a search, but the alarm of the system can end a process. It is run
as a program, with nothing but the standard library, and ends with its standard input.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import warnings


def answer_requests() -> None:
    """`{pattern, flags, text, full, limit_s}` in, `[start, end]` or null out."""
    warnings.simplefilter("ignore")
    set_alarm = getattr(signal, "setitimer", None)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        if set_alarm is not None:
            set_alarm(signal.ITIMER_REAL, asked["limit_s"])
        pattern = re.compile(asked["pattern"], asked["flags"])
        found = (pattern.fullmatch if asked["full"] else pattern.search)(asked["text"])
        if set_alarm is not None:
            set_alarm(signal.ITIMER_REAL, 0)
        reply = None if found is None else found.span()
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    answer_requests()
