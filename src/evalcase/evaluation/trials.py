"""One trial: the question asked, the answer graded, or an answer that is known graded again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial

from evalcase.evaluation.plan import Plan
from evalcase.grade.apply import Graded, grade_answer
from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.failure import Failure
from evalcase.model.finding import Unfit
from evalcase.model.grader import Context, NamedGrader
from evalcase.model.question import Question
from evalcase.model.result import Result
from evalcase.model.trial import Trial
from evalcase.record.cap import TooLargeError, cap_answer
from evalcase.run.gate import Asked, Gate
from evalcase.run.hashes import hash_grading, hash_question
from evalcase.run.question import question_of
from evalcase.run.schedule import Engine
from evalcase.suites.attached import AttachedFiles
from evalcase.system.guests import Guests

MAX_ANSWER_BYTES = 10_000_000
"""How much of each text of an answer is kept; a longer one is cut, and marked as such."""


class Trials:
    """Makes results of trials."""

    def __init__(self, plan: Plan, engine: Engine, gate: Gate, guests: Guests, run_id: str) -> None:
        self._plan = plan
        self._engine = engine
        self._gate = gate
        self._guests = guests
        self._run_id = run_id
        self._files = AttachedFiles(plan.world.cwd)
        self._capped = plan.options.max_cost_usd is not None

    def hash_question(self, trial: Trial, has_parts: bool | None = None) -> str:
        """`has_parts` is what the case says itself, for who has asked it already."""
        case = trial.case
        if has_parts is None:
            has_parts = case.has_parts
        return hash_question(case, self._files.hashes(trial.suite, case) if has_parts else None)

    def hash_grading(self, case: Case) -> str:
        graders = self._plan.graders
        return hash_grading(case, graders.prints_of(graders.of(case)))

    async def run(self, trial: Trial) -> Result:
        """Ask, and grade what is answered."""
        case, started = trial.case, self._plan.world.stamp()
        if case.skip:
            return self._skipped(trial, started)
        has_parts = case.has_parts
        files = self._files.find(trial.suite, case) if has_parts else {}
        question = self._question(trial, files)
        if has_parts and isinstance(files, Unfit):
            asked = Asked(None, Failure("exception", files.message), 0, 0.0)
        else:
            asked = await self._gate.ask(trial.target, question, case.timeout_s)
        if asked.interrupted and self._engine.interrupted:
            raise asyncio.CancelledError  # it has no result, and is run again by `resume`
        answer, failure = self._kept(asked)
        graders = self._plan.graders.of(case)
        graded = Graded("errored", ())
        if answer is not None:
            self._look_at_cost(trial, answer)
            graded = await self._grade(trial, question, answer, graders, asked.duration_s)
        return Result(
            trial.key, self.hash_question(trial, has_parts), graded.verdict, answer, graded.grades,
            failure, asked.attempts, started, round(asked.duration_s, 6),
            asked.retried,
            hash_grading(case, self._plan.graders.prints_of(graders)),
            1, trial.repeats, case.pass_rate, trial.number,
        )  # fmt: skip

    async def regrade(self, trial: Trial, known: Result, grading: int) -> Result:
        """Grade an answer again, by what the case says now. No target is asked for it."""
        graders = self._plan.graders.of(trial.case)
        assert known.answer is not None
        case = trial.case
        files = self._files.find(trial.suite, case) if case.has_parts else {}
        question = self._question(trial, files)
        graded = await self._grade(trial, question, known.answer, graders, known.duration_s)
        return Result(
            known.key, known.question_hash, graded.verdict, known.answer, graded.grades, None,
            known.attempts, known.started_at, known.duration_s, known.retried,
            self.hash_grading(trial.case), grading, trial.repeats, trial.case.pass_rate,
            trial.number,
        )  # fmt: skip

    def _grade(
        self, trial: Trial, question: Question, answer: Answer, graders: Sequence[NamedGrader],
        duration_s: float,
    ) -> Awaitable[Graded]:  # fmt: skip
        asker = partial(self._gate.ask_for_grader, within=question)
        context = Context(trial.case, question, answer, asker=asker, duration_s=duration_s)
        limit_s = self._plan.config.grader_timeout_s
        only_these = self._plan.graders.only_given
        return grade_answer(context, graders, self._guests, limit_s, only_these=only_these)

    def _question(self, trial: Trial, files: dict[str, str] | Unfit) -> Question:
        """What is asked. All was well with its files before the run, but may not be now."""
        session = f"{self._run_id}-{trial.number}-{trial.target}-{trial.repeat}"
        return question_of(trial, {} if isinstance(files, Unfit) else files, session)

    def _kept(self, asked: Asked) -> tuple[Answer | None, Failure | None]:
        """What is kept of an answer, or why there is none."""
        failure = asked.failure
        if asked.answer is not None:
            try:
                return cap_answer(asked.answer, MAX_ANSWER_BYTES), None
            except TooLargeError as error:
                failure = Failure("protocol", str(error), {"output": error.excerpt})
        return None, failure

    def _skipped(self, trial: Trial, started: str) -> Result:
        reason = trial.case.skip if isinstance(trial.case.skip, str) else "skipped"
        return Result(
            trial.key, self.hash_question(trial), "skipped", None, (), Failure("stopped", reason),
            0, started, 0.0, grading_hash=self.hash_grading(trial.case), number=trial.number,
        )  # fmt: skip

    def _look_at_cost(self, trial: Trial, answer: Answer) -> None:
        if self._capped and answer.cost_usd is None:
            self._plan.warn(
                f"answers of `{trial.target}` come without a cost: --max-cost can't hold"
            )
