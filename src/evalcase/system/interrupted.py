"""Ctrl-C in the midst of something that the run can't do without, and so the end of the run."""

from __future__ import annotations


class InterruptedRunError(KeyboardInterrupt):
    """It says in the midst of what. Whoever waits for that raises it: wherever else it is seen on
    its way, there is nothing to tell."""
