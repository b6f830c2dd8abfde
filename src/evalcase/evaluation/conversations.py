"""One trial of a case in turns: had, graded turn by turn and as a whole; or one that is known,
graded again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple

from evalcase.evaluation.trials import UnaskedTurnsError
from evalcase.grade.apply import Graded
from evalcase.grade.score import decide_verdict
from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.conversation import Exchange, TalkEnd, join_turns, split_turns
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.grader import NamedGrader
from evalcase.model.question import Question
from evalcase.model.result import Result, Verdict
from evalcase.model.trial import Trial
from evalcase.model.value import replace
from evalcase.plugins.graders import Graders
from evalcase.run.conversation import (
    Conversation,
    Keep,
    Speak,
    Talk,
    TurnAsker,
    follow_script,
)
from evalcase.run.sessions import user_session
from evalcase.run.user_side import UserSide

GradeAnswer = Callable[
    [Case, Question, Answer, Sequence[NamedGrader], float, int], Awaitable[Graded]
]
"""Grades an answer of so many turns by what a case says."""


class Assessed(NamedTuple):
    """What a conversation is found to be."""

    verdict: Verdict
    grades: tuple[Grade, ...]


class Conversations:
    """Makes results of trials whose cases have turns."""

    def __init__(
        self, asker: TurnAsker, graders: Graders, grade: GradeAnswer, keep: Keep,
        over: Callable[[str, str], Awaitable[None]], lose: Callable[[Trial, float], None],
    ) -> None:  # fmt: skip
        """`over` is told of sessions of targets, and `lose` of money that bought no result."""
        self._asker = asker
        self._graders = graders
        self._grade = grade
        self._keep = keep
        self._over = over
        self._lose = lose

    async def hold(self, trial: Trial, first: Question) -> tuple[Talk, Assessed]:
        """Have a conversation, and grade it if it came to its end. It is raised as cancelled where
        it has no result, and is to be had again."""
        case = trial.case
        look = _LookAtTurns(self._grade_turn, case.turns, case.stops_on_failure)
        speak: Speak = follow_script([turn.input for turn in case.turns])
        if case.user is not None:
            speak = UserSide(self._asker, case.user)
        conversation = Conversation(
            self._asker, trial.target, first, case.timeout_s, speak,
            look if case.user is None else _look_for_end, self._keep,
        )  # fmt: skip
        try:
            talk = await conversation.hold(partial(self._end, trial))
        finally:
            if conversation.lost_usd:
                self._lose(trial, conversation.lost_usd)
        if talk.is_cut:
            raise asyncio.CancelledError
        if talk.failure is not None:
            return talk, Assessed("errored", ())
        return talk, await self._judge(case, first, talk.exchanges, talk.ending, look.grades)

    async def _end(self, trial: Trial, session: str) -> None:
        """Tell both sides that a session is over."""
        await self._over(trial.target, session)
        if trial.case.user is not None:
            await self._over(trial.case.user.target, user_session(session))

    async def judge_again(self, case: Case, first: Question, known: Result) -> Assessed:
        """Grade one that is known, by what the case says now."""
        assert known.answer is not None
        exchanges = split_turns(known.answer, known.turns)
        if case.user is not None:
            return await self._judge(case, first, exchanges, known.ending, None)
        left = len(case.turns) - len(exchanges)
        if left < 0 or (left > 0 and known.ending != "turn_failed"):
            return _refuse_trial(
                f"the record has {len(exchanges)} turns of it, and not {len(case.turns)}"
            )
        judged = await self._judge(case, first, exchanges, known.ending, None)
        if left and all(grade.passed for grade in judged.grades if grade.turn is not None):
            raise UnaskedTurnsError
        return judged

    async def _judge(
        self, case: Case, first: Question, exchanges: Sequence[Exchange], ending: TalkEnd | None,
        known: Sequence[Grade] | None,
    ) -> Assessed:  # fmt: skip
        """The verdict on all of it; `known` are grades of turns that were given on the way."""
        of_turns = known or await self._grade_turns(case, first, exchanges)
        grades = tuple(of_turns)
        graders, whole = self._graders.of(case), join_turns(exchanges)
        if graders or case.needs_judge:
            took_s = sum(each.duration_s for each in exchanges)
            graded = await self._grade(case, first, whole, graders, took_s, len(exchanges))
            grades = (*grades, *graded.grades)
        verdict = decide_verdict(grades, case.threshold)
        if ending == "turn_failed" and verdict in ("passed", "ungraded"):
            verdict = "failed"  # what was left out can't be made up for by what was not
        return Assessed(verdict, grades)

    async def _grade_turns(
        self, case: Case, first: Question, exchanges: Sequence[Exchange]
    ) -> list[Grade]:
        grades: list[Grade] = []
        messages = list(first.messages)
        for number, (turn, exchange) in enumerate(zip(case.turns, exchanges, strict=False), 1):
            messages += exchange.said
            question = replace(first, messages=tuple(messages), turn=number)
            grades += await self._grade_turn(turn, question, exchange)
            messages += exchange.answer.messages
        return grades

    async def _grade_turn(self, turn: Case, question: Question, exchange: Exchange) -> list[Grade]:
        graders = self._graders.of_turn(turn)
        if not graders and (self._graders.only_given or not turn.needs_judge):
            return []
        answer, took_s, number = exchange.answer, exchange.duration_s, question.turn
        graded = await self._grade(turn, question, answer, graders, took_s, 1)
        return [
            replace(grade, grader=f"turn {number}: {grade.grader}", turn=number)
            for grade in graded.grades
        ]


class _LookAtTurns:
    """Grades turns as they are answered, where one that fails is the last."""

    def __init__(
        self, grade: Callable[[Case, Question, Exchange], Awaitable[list[Grade]]],
        turns: Sequence[Case], stops: bool,
    ) -> None:  # fmt: skip
        self._grade = grade
        self._turns = turns
        self._stops = stops
        self.grades: list[Grade] = []

    async def __call__(self, question: Question, exchange: Exchange) -> TalkEnd | None:
        if not self._stops:
            return None
        if question.turn == 1:
            self.grades = []  # it may have been begun before
        own = await self._grade(self._turns[question.turn - 1], question, exchange)
        self.grades += own
        is_last = question.turn == len(self._turns)
        return None if is_last or all(grade.passed for grade in own) else "turn_failed"


async def _look_for_end(question: Question, exchange: Exchange) -> TalkEnd | None:
    """Whether the target has ended a conversation with a user who could go on."""
    del question
    return "stopped" if exchange.answer.ends_conversation else None


def _refuse_trial(why: str) -> Assessed:
    broken = Grade("record", None, False, why, failure=Failure("grader", why))
    return Assessed("errored", (broken,))
