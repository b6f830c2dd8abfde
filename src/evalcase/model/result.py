"""The result of a trial: the verdict, and all that it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from evalcase.model.answer import Answer
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.trial import TrialKey

Verdict = Literal["passed", "failed", "errored", "ungraded", "skipped"]


@dataclass(frozen=True, slots=True)
class Result:
    key: TrialKey
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

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of a record. Absent fields are left out."""
        suite, case, target, repeat = self.key
        data: dict[str, Any] = {
            "suite": suite, "case": case, "target": target, "repeat": repeat,
            "case_hash": self.case_hash, "verdict": self.verdict,
        }  # fmt: skip
        if self.answer is not None:
            data["answer"] = self.answer.to_dict()
        if self.grades:
            data["grades"] = [grade.to_dict() for grade in self.grades]
        if self.failure is not None:
            data["failure"] = self.failure.to_dict()
        data["attempts"] = self.attempts
        data["started_at"] = self.started_at
        data["duration_s"] = self.duration_s
        if self.retried:
            data["retried"] = [failure.to_dict() for failure in self.retried]
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Result:
        answer, failure = data.get("answer"), data.get("failure")
        return cls(
            TrialKey(data["suite"], data["case"], data["target"], data["repeat"]),
            data["case_hash"], data["verdict"],
            Answer.from_dict(answer) if answer is not None else None,
            tuple(Grade.from_dict(grade) for grade in data.get("grades", ())),
            Failure.from_dict(failure) if failure is not None else None,
            data["attempts"], data["started_at"], data["duration_s"],
            tuple(Failure.from_dict(each) for each in data.get("retried", ())),
        )  # fmt: skip
