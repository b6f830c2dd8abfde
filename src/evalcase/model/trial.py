"""A trial: one case, one target, one repeat."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.model.case import Case
from evalcase.model.trial_key import TrialKey


class Trial(NamedTuple):
    suite: str
    case: Case
    target: str
    """The name of the target, as it was given."""
    repeat: int = 1
    repeats: int = 1
    """How many trials there are of the case at this target."""
    number: int = 0
    """The place of the case among those of the run, from 0."""

    @property
    def key(self) -> TrialKey:
        suite, case, target, repeat, _, _ = self
        return TrialKey(suite, case._data["id"], target, repeat)
