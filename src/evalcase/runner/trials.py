"""One trial: the question asked, the answer graded, or an answer that is known graded again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial

from evalcase.runner.conversation import Conversations, Talk
from evalcase.runner.dispatch import Asked, Gate, Workplace
from evalcase.runner.grading import Graded, decide_verdict, grade_answer
from evalcase.runner.hashes import hash_grading, hash_plain_case, hash_plain_question, hash_question
from evalcase.runner.plan import Plan
from evalcase.runner.schedule import Engine
from evalcase.store.writer import TooLargeError, cap_answer
from evalcase.types.answer import Answer, Failure
from evalcase.types.case import Case
from evalcase.types.conversation import join_turns
from evalcase.types.grader import Asker, Context, NamedGrader, Usable
from evalcase.types.message import Message
from evalcase.types.problem import Unfit
from evalcase.types.question import Question, TrialKey
from evalcase.types.result import Result, Trial
from evalcase.types.value import JSON, replace
from evalcase.util.files import FileDigests
from evalcase.util.project import find_attachments
from evalcase.util.user_calls import UserCalls


def question_of(trial: Trial, files: Mapping[str, str], session: str, hash: str) -> Question:
    """The question of a trial. `files` are those that its messages name, by those names."""
    suite, case, _, repeat, _, _ = trial
    data = case._data
    return Question(
        case.input, data["id"], suite, repeat, 1, session, 1, data.get("conversation_id"),
        case.metadata if "metadata" in data else {}, dict(files) if files else {}, None, hash,
    )  # fmt: skip


_NO_TALK = "a conversation can't be run in batches: use a target without `batch`"
_UNANSWERED = Graded("errored", ())
MAX_ANSWER_BYTES = 10_000_000
"""How much of each text of an answer is kept; a longer one is cut, and marked as such."""


class Trials:
    """Makes results of trials."""

    def __init__(
        self, plan: Plan, engine: Engine, gate: Gate, calls: UserCalls, run_id: str,
        lose: Callable[[Trial, float], None], workplace: Workplace | None,
    ) -> None:  # fmt: skip
        """`lose` is told of money that was spent on what has no result. `workplace` is where trials
        are answered, if that is not this process."""
        self._plan = plan
        self._engine = engine
        self._gate = gate
        self._calls = calls
        self._run_id = run_id
        self._lose = lose
        self._workplace = workplace
        self.plain = 0
        """How many results rest on the text that is asked and the one that is expected alone."""
        self._digests = FileDigests()
        self._capped = plan.options.max_cost_usd is not None

    def hash_question(self, trial: Trial) -> str:
        case = trial.case
        plain = hash_plain_question(case)
        if plain is not None:
            return plain
        files = self._find_files(trial)
        if isinstance(files, Unfit):
            return hash_question(case, {"": files.message})
        return hash_question(case, self._digests.of(files) if case.has_parts else None)

    def _find_files(self, trial: Trial) -> dict[str, str] | Unfit:
        """The files in the content of a case: real paths by the names that it has for them."""
        if not trial.case.has_parts:
            return {}
        suite = os.path.join(self._plan.environment.cwd, trial.suite)
        return find_attachments(suite, trial.case.written_messages)

    def hash_grading(self, case: Case) -> str:
        return hash_grading(case, self._plan.graders.prints_for(case))

    def question(self, trial: Trial) -> Question | None:
        """What a trial asks; None if nothing, or not now."""
        case = trial.case
        files = self._find_files(trial)
        if case.skip or case.is_conversation or isinstance(files, Unfit):
            return None
        return self._question(trial, files, self.hash_question(trial))

    def is_known(self, target: str, question: Question) -> Awaitable[bool]:
        """Whether the cache has the answer to a question."""
        return self._gate.knows(target, question)

    async def run(self, trial: Trial) -> Result:
        """Ask, and grade what is answered."""
        suite, case, target, repeat, repeats, number = trial
        data, started = case._data, self._plan.environment.stamp()
        if "skip" in data and case.skip:
            return self._skipped(trial, started)
        plain = hash_plain_case(case)
        if plain is None and case.is_conversation:
            return await self._converse(trial, started)
        files = self._find_files(trial)
        asked_by = self.hash_question(trial) if plain is None else plain[0]
        question = self._question(trial, files, asked_by)
        if isinstance(files, Unfit):
            asked = Asked(None, Failure("exception", files.message), 0, 0.0)
        else:
            asked = await self._gate.ask(target, question, data.get("timeout_s"))
        answer, failure, attempts, took_s, retried, interrupted, _ = asked
        if interrupted and self._engine.interrupted:
            raise asyncio.CancelledError  # it has no result, and is run again by `resume`
        if self._plan.targets[target].traits.holds_sessions:
            await self._gate.end_session(target, question.session)
        graders = self._plan.graders.of(case)
        verdict, grades = _UNANSWERED
        if answer is not None:
            answer, failure = self._kept(answer)
        if answer is not None:
            self._look_at_cost(target, answer.cost_usd)
            verdict, grades = await self._grade(case, question, answer, graders, took_s)
        graded_by = self._hash_graded(case, graders, plain)
        return Result(
            TrialKey(suite, data["id"], target, repeat), asked_by, verdict, answer,
            grades, failure, attempts, started, round(took_s * 1e6) / 1e6, retried, graded_by, 1,
            repeats, 1.0 if plain is not None else case.pass_rate, number,
        )  # fmt: skip

    def _hash_graded(
        self, case: Case, graders: Sequence[NamedGrader], plain: tuple[str, str] | None
    ) -> str:
        """What says that a trial has to be graded again; the second of `plain` does if nothing but
        the built-in comparison grades it."""
        if plain is not None and graders is self._plan.graders.only_expected:
            self.plain += 1
            return plain[1]
        return hash_grading(case, self._plan.graders.prints_for(case))

    async def _converse(self, trial: Trial, started: str) -> Result:
        """The same for a case that is asked in turns."""
        case, files = trial.case, self._find_files(trial)
        question = self._question(trial, files, self.hash_question(trial))
        # Where it was begun before, and nobody knows how far it came, it is another one.
        question = replace(
            question, session=f"{question.session}-{self._plan.environment.entropy(4).hex()}"
        )
        if self._plan.targets[trial.target].traits.batching is not None:
            why = Failure("protocol", _NO_TALK)
            talk, judged = Talk(failure=why), _UNANSWERED
        elif isinstance(files, Unfit):
            why = Failure("exception", files.message)
            talk, judged = Talk(failure=why), _UNANSWERED
        else:
            talk, judged = await self._conversations.run(trial, question)
        if talk.interrupted and self._engine.interrupted:
            raise asyncio.CancelledError  # as above
        answer = join_turns(talk.exchanges) if talk.failure is None else None
        turns = [each.turn for each in talk.exchanges] if answer is not None else ()
        user = talk.sum_user(case.user) if case.user is not None and answer is not None else None
        if answer is not None:
            self._look_at_cost(trial.target, answer.cost_usd)
        if user is not None and user.asked:
            self._look_at_cost(user.target, user.cost_usd)
        return Result(
            trial.key, question.hash, judged.verdict, answer, judged.grades,
            talk.failure, 1 + len(talk.retried), started, round(talk.duration_s, 6), talk.retried,
            self.hash_grading(case), 1, trial.repeats, case.pass_rate, trial.number,
            tuple(turns), talk.ending,
            user,
        )  # fmt: skip

    @cached_property
    def _conversations(self) -> Conversations:
        return Conversations(
            self._gate, self._plan.graders, self._grade, self._keep_turn, self._lose
        )

    async def regrade(self, trial: Trial, known: Result, grading: int) -> Result:
        """Grade an answer again, by what the case says now. No target is asked for it.

        Raise UnaskedTurnsError where turns have to be asked for it that never were.
        """
        assert known.answer is not None
        case = trial.case
        files = self._find_files(trial)
        question = self._question(trial, files, known.question_hash)
        if case.is_conversation:
            graded = await self._conversations.regrade(case, question, known)
        else:
            graders = self._plan.graders.of(case)
            graded = await self._grade(case, question, known.answer, graders, known.duration_s)
        return replace(
            known, verdict=graded.verdict, grades=graded.grades, failure=None,
            grading_hash=self.hash_grading(case), grading=grading, repeats=trial.repeats,
            pass_rate=case.pass_rate, number=trial.number,
        )  # fmt: skip

    def _grade(
        self, case: Case, question: Question, answer: Answer, graders: Sequence[NamedGrader],
        duration_s: float, turns: int = 1,
    ) -> Awaitable[Graded]:  # fmt: skip
        asker: Asker | None = None
        if self._workplace is not None or graders is not self._plan.graders.only_expected:
            ask = self._ask_for_grader if self._capped else self._gate.ask_for_grader
            asker = partial(ask, within=question)
        context = Context(case, question, answer, (), asker, None, duration_s, turns)
        limit_s = self._plan.config.grader_timeout_s
        if self._workplace is not None and self._workplace.must_grade(answer, graders):
            return self._grade_there(self._workplace, context, graders, limit_s)
        only_these = self._plan.graders.only_given
        return grade_answer(context, graders, self._calls, limit_s, only_these=only_these)

    async def _ask_for_grader(
        self, name: str, messages: Sequence[Message], schema: JSON, usable: Usable | None,
        within: Question,
    ) -> Answer:  # fmt: skip
        """Ask where there is a spending cap: what has no price is told of, whoever asks."""
        answer = await self._gate.ask_for_grader(name, messages, schema, usable, within)
        self._look_at_cost(name, answer.cost_usd)
        return answer

    async def _grade_there(
        self, workplace: Workplace, context: Context, graders: Sequence[NamedGrader], limit_s: float
    ) -> Graded:
        grades = await workplace.grade(context, graders, limit_s)
        return Graded(decide_verdict(grades, context.case.threshold), grades)

    def _question(self, trial: Trial, files: dict[str, str] | Unfit, hash: str) -> Question:
        """What is asked. All was well with its files before the run, but may not be now."""
        _, _, target, repeat, _, number = trial
        session = f"{self._run_id}-{number!r}-{target}-{repeat!r}"
        return question_of(trial, {} if isinstance(files, Unfit) else files, session, hash)

    def _kept(self, answer: Answer) -> tuple[Answer | None, Failure | None]:
        """What is kept of an answer, or why that is nothing."""
        try:
            return cap_answer(answer, MAX_ANSWER_BYTES), None
        except TooLargeError as error:
            return None, Failure("protocol", str(error), {"output": error.excerpt})

    def _keep_turn(self, asked: Asked) -> Answer | Failure:
        answer, failure = asked.answer, asked.failure
        if answer is not None:
            answer, failure = self._kept(answer)
        if answer is None:
            assert failure is not None
            return failure
        return answer

    def _skipped(self, trial: Trial, started: str) -> Result:
        reason = trial.case.skip if isinstance(trial.case.skip, str) else "skipped"
        return Result(
            trial.key, self.hash_question(trial), "skipped", None, (), Failure("stopped", reason),
            0, started, 0.0, grading_hash=self.hash_grading(trial.case), number=trial.number,
        )  # fmt: skip

    def _look_at_cost(self, target: str, cost_usd: float | None) -> None:
        if self._capped and cost_usd is None:
            self._plan.warn(
                f"answers of `{target}` come without a cost: the spending cap can't be enforced"
            )
