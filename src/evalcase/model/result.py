"""The result of a trial: the verdict, and all that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from evalcase.model.answer import Answer
from evalcase.model.codec import INLINE
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.trial import TrialKey

Verdict = Literal["passed", "failed", "errored", "ungraded", "skipped"]


@dataclass(frozen=True, slots=True)
class Result:
    key: TrialKey = field(metadata=INLINE)
    case_hash: str
    """Changes with anything in the case that can change its result."""
    verdict: Verdict
    answer: Answer | None = None
    grades: tuple[Grade, ...] = ()
    failure: Failure | None = None
    """Why the target gave no answer; or why the case was skipped."""
    attempts: int = 1
    """How often the target was called."""
    started_at: str = ""
    """UTC, ISO 8601."""
    duration_s: float = 0.0
    """Of the attempt that counts, as measured here."""
    retried: tuple[Failure, ...] = ()
    """What the attempts before that one came to."""

    @property
    def reason(self) -> str:
        """One line for people: why it is not passed; empty if it is."""
        if self.failure is not None:
            return self.failure.message
        broken = [grade for grade in self.grades if grade.failure is not None]
        unhappy = broken or [grade for grade in self.grades if not grade.passed]
        return "; ".join(f"{grade.grader}: {grade.reason}" for grade in unhappy)
