"""What helps to test suites, graders and targets: targets and users that follow a script, and
graders whose grade is known."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

from evalcase.errors import TargetError
from evalcase.graders.base import Context, Grader
from evalcase.targets.answers import read_answer
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.options import Share, Text, about
from evalcase.types.target import Question, Target

__all__ = [
    "HANGS", "FixedGrader", "ScriptedTarget", "ScriptedUser", "crashes", "fails",
    "passes",
]  # fmt: skip

_NO_MORE = object()
HANGS = object()
"""A step of a script that never comes to its end, so that the time limit has to."""


class ScriptedTarget(Target):
    """Answers as it is told to, one step for each time it is asked.

    A step is an answer, in any form that a Python target may return; an exception, which is
    raised; or `HANGS`. Steps in a list are taken in order, whatever is asked; a mapping has them
    by case id, one step for all times or a list of them:

        ScriptedTarget(["4", TargetError("busy", may_succeed_later=True), "Lima"])
        ScriptedTarget({"sum": "4", "capital": [ValueError("no"), "Lima"]})
    """

    def __init__(self, script: Sequence[object] | Mapping[str, object]) -> None:
        self.asked: list[Question] = []
        """Every question it was asked, in order."""
        self.opened = 0
        self.closed = 0
        self._script = script if isinstance(script, Mapping) else list(script)
        self._taken: Counter[str] = Counter()

    async def open(self) -> None:
        self.opened += 1

    async def answer(self, question: Question) -> Answer:
        self.asked.append(question)
        step = self._step(question)
        if step is HANGS:
            await asyncio.Event().wait()
        if isinstance(step, BaseException):
            raise step
        return read_answer(step)

    async def close(self) -> None:
        self.closed += 1

    def _step(self, question: Question) -> object:
        steps = self._steps_for(question.case)
        if not isinstance(steps, list):
            return steps
        step = self._take(steps, question.case if isinstance(self._script, Mapping) else "")
        if step is _NO_MORE:
            said = f"the script ends after {len(steps)} steps, and case `{question.case}` came next"
            raise TargetError(said, kind="protocol")
        return step

    def _steps_for(self, case: str) -> object:
        if not isinstance(self._script, Mapping):
            return self._script
        if case not in self._script:
            raise TargetError(f"the script has nothing for case `{case}`", kind="protocol")
        return self._script[case]

    def _take(self, steps: list[object], name: str) -> object:
        """The next step of those that are taken under a name."""
        self._taken[name] += 1
        return steps[self._taken[name] - 1] if self._taken[name] <= len(steps) else _NO_MORE


class ScriptedUser(ScriptedTarget):
    """Plays users as it is told to, and ends the conversation when it has said all of it:

        evaluate(cases, agent, users={"simulator": ScriptedUser(["Cancel it.", "Yes."])})

    Steps are those of `ScriptedTarget`, taken in order in each conversation: however many go on at
    once, each has the same. What a case has the user say `first` is not among them.
    """

    def _step(self, question: Question) -> object:
        steps = self._steps_for(question.case)
        step = self._take(steps if isinstance(steps, list) else [steps], question.session)
        return "DONE" if step is _NO_MORE else step


class FixedGrader(Grader):
    """Gives the same score to every answer: `evaluate(…, graders=[FixedGrader(0.5)])`."""

    name = "fixed"
    description = "The score that it was told."
    argument = "score"

    score: Annotated[Share, about("The score.")] = 1.0
    reason: Annotated[Text, about("What it says of it.")] = "fixed"

    def grade(self, context: Context) -> Score:
        del context
        return Score(self.score, self.reason)


def passes(answer: Answer) -> bool:
    """A grader for suites, as `python:evalcase.testing:passes`."""
    del answer
    return True


def fails(answer: Answer) -> bool:
    """The opposite of `passes`."""
    del answer
    return False


def crashes(answer: Answer) -> bool:
    """A grader that breaks, so that its trials are errored."""
    raise RuntimeError(f"a grader that always crashes was given {answer.text[:40]!r}")
