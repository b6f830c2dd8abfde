"""What a trial is called."""

from __future__ import annotations

from typing import NamedTuple


class TrialKey(NamedTuple):
    """What a trial is called in a run. Case ids are unique within a suite only."""

    suite: str
    """The path of the suite file, as it was named."""
    case: str
    target: str
    repeat: int
    """Counted from 1."""
