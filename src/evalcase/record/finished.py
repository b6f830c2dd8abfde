"""What a journal says of a trial that has a result, in few words."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.model.result import Verdict


class FinishedTrial(NamedTuple):
    """What is known of a finished trial."""

    verdict: Verdict
    question: int
    """The mark of its question hash."""
    grading: int
    """The mark of its grading hash."""
    answer_at: int
    """Where in the journal the row of its answer begins."""
    grading_at: int
    """Where the row of its grading does: the same where it was graded once."""
    answered: bool
    repeats: int
    """How many trials there were to be of its case when it was last graded."""
    pass_rate: float
    graded_in: int = 1
    """Which grading its last one is."""
