"""A grade: what one grader says about one answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from evalcase.model.failure import Failure


@dataclass(frozen=True, slots=True)
class Grade:
    """A score with its reason; or, where the grader broke, the failure and no score."""

    grader: str
    score: float | None
    """Between 0 and 1; None if the grader broke."""
    passed: bool
    reason: str
    details: dict[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    required: bool = False
    failure: Failure | None = None

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "grader": self.grader, "score": self.score, "passed": self.passed, "reason": self.reason
        }  # fmt: skip
        if self.details:
            data["details"] = self.details
        if self.weight != 1.0:
            data["weight"] = self.weight
        if self.required:
            data["required"] = True
        if self.failure is not None:
            data["failure"] = self.failure.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Grade:
        failure = data.get("failure")
        return cls(
            data["grader"], data["score"], data["passed"], data["reason"],
            data.get("details", {}), data.get("weight", 1.0), data.get("required", False),
            Failure.from_dict(failure) if failure is not None else None,
        )  # fmt: skip
