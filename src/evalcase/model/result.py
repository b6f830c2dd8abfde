"""The result of a trial: what was answered, how it was graded, and all that both rest on."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta

from evalcase.model.answer import Answer
from evalcase.model.conversation import Exchange, Simulated, TalkEnd, Turn, split_turns
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade, mean_score
from evalcase.model.trial_key import TrialKey
from evalcase.model.value import Value

Verdict = Literal["passed", "failed", "errored", "ungraded", "skipped"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class Result(Value, frozen=True):
    key: TrialKey
    question_hash: str
    """Changes with anything that a target is given: then it must be asked again."""
    verdict: Verdict
    answer: Answer | None = None
    grades: tuple[Grade, ...] = ()
    failure: Failure | None = None
    """Why the target gave no answer; or why the case was skipped."""
    attempts: Annotated[int, Meta(ge=0)] = 1
    """How often the target was called."""
    started_at: str = ""
    """UTC, ISO 8601."""
    duration_s: Annotated[float, Meta(ge=0)] = 0.0
    """Of the attempt that counts, as measured here."""
    retried: tuple[Failure, ...] = ()
    """What the attempts before that one came to."""
    grading_hash: str = ""
    """Changes with anything that a verdict rests on beside the answer: then it must be graded
    again."""
    grading: Annotated[int, Meta(ge=1)] = 1
    """Which of the gradings of a run this is, from 1."""
    repeats: Annotated[int, Meta(ge=1)] = 1
    """How many trials there are of the case at this target."""
    pass_rate: Annotated[float, Meta(ge=0, le=1)] = 1.0
    """The share of them that must pass."""
    number: Annotated[int, Meta(ge=0)] = 0
    """The place of the case among those of the run, from 0."""
    turns: tuple[Turn, ...] = ()
    """The turns of a conversation, whose messages are those of the answer."""
    ending: TalkEnd | None = None
    """How a conversation ended that could have gone on."""
    user: Simulated | None = None
    """Who played the user of a conversation, and what that took."""

    @property
    def score(self) -> float | None:
        """The mean of its grades by weight; None where something broke, or nothing was graded."""
        return None if self.verdict in ("errored", "skipped") else mean_score(self.grades)

    @property
    def exchanges(self) -> list[Exchange]:
        """What was said and answered in each turn of a conversation; empty where there is none."""
        if self.answer is None or not self.turns:
            return []
        return split_turns(self.answer, self.turns)

    @property
    def reason(self) -> str:
        """One line for people: why it is not passed; empty if it is."""
        if self.failure is not None:
            return self.failure.message
        broken = [grade for grade in self.grades if grade.failure is not None]
        unhappy = broken or [grade for grade in self.grades if not grade.passed]
        return "; ".join(map(_say_why, unhappy))


def _say_why(grade: Grade) -> str:
    """Its name and its reason; one that begins with the name says it already."""
    is_said = grade.reason.startswith(f"{grade.grader} ")
    return grade.reason if is_said else f"{grade.grader}: {grade.reason}"


class Regraded(Value, frozen=True):
    """What became of an answer that was graded again: it takes the place of its first grading."""

    key: TrialKey
    verdict: Verdict
    grading_hash: str
    grading: Annotated[int, Meta(ge=1)]
    grades: tuple[Grade, ...] = ()
    pass_rate: Annotated[float, Meta(ge=0, le=1)] = 1.0
    repeats: Annotated[int, Meta(ge=1)] = 1
