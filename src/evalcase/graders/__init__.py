"""Graders, one small file each. What a grader is stands here.

A grader is a small class. Its fields are its options in a suite, and its one method says how good
an answer is:

    @dataclass(frozen=True)
    class Shorter:
        value: int

        def grade(self, trial: Trial, answer: Answer) -> Grade:
            length = len(answer.text)
            passed = length < self.value
            return Grade("shorter", float(passed), passed, f"{length} characters")

`weight`, `required` and `name` are options of every grader, so none has to know them. A grader is
made once for all cases that say the same of it, and may be asked by several trials at a time.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from evalcase.model.answer import Answer
from evalcase.model.grade import Grade
from evalcase.model.trial import Trial


class Grader(Protocol):
    """What every grader can do. A class may also say one of two things about itself.

    `compares_expected = True`: it compares with `expected_output`, so that the built-in comparison
    isn't added. `judges = True`: it reads `criteria` and `rubrics`.
    """

    def grade(self, trial: Trial, answer: Answer) -> Grade | Awaitable[Grade]:
        """A grade, or something to wait for; plain graders stay plain, and quick.

        A score of None without a failure means that there was nothing to grade.
        """
        ...


@dataclass(frozen=True, slots=True)
class NamedGrader:
    """A grader as a case uses it: what it is called there, and how much it counts."""

    name: str
    grader: Grader
    weight: float = 1.0
    required: bool = False

    @property
    def compares_expected(self) -> bool:
        kind = getattr(self.grader, "kind", None)
        return kind is not None and bool(kind.compares_expected)

    @property
    def judges(self) -> bool:
        return bool(getattr(self.grader, "judges", False))
