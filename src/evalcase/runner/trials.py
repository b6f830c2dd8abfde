"""One trial: its question is asked and its answer graded; or a stored answer is graded again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from evalcase.config.graders import all_in
from evalcase.graders.base import Context, NamedGrader, Usable
from evalcase.runner.dispatch import Asked, Dispatcher, Executor
from evalcase.runner.grading import Graded, decide_verdict, grade_answer
from evalcase.runner.hashes import hash_grading, hash_question
from evalcase.runner.plan import Plan
from evalcase.runner.schedule import Engine
from evalcase.store.journal import TooLargeError, cap_answer
from evalcase.types.answer import Answer, Failure, Turn, join_turns
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.message import Message, take_message
from evalcase.types.problem import Finding
from evalcase.types.result import Result, Trial, Verdict
from evalcase.types.target import Question
from evalcase.types.value import JSON, replace
from evalcase.types.workspace import Changes, Space, WorkspaceError
from evalcase.util.environment import stamp
from evalcase.util.files import digest_files
from evalcase.util.project import find_attachments
from evalcase.util.user_calls import UserCalls

if TYPE_CHECKING:
    from evalcase.runner.conversation import Conversations
    from evalcase.runner.workspaces import Workspaces

MAX_ANSWER_BYTES = 10_000_000
"""The longest text of an answer that is stored; a longer one is cut, and marked."""
_NO_TALK = "a conversation can't be run in batches: use a target without `batch`"


class Trials:
    """Makes results of trials."""

    def __init__(  # noqa: PLR0913, PLR0917 - all that a trial passes comes together here
        self, plan: Plan, engine: Engine, dispatcher: Dispatcher, calls: UserCalls, run_id: str,
        lose: Callable[[Trial, float], None], executor: Executor | None,
        workspaces: Workspaces | None,
    ) -> None:  # fmt: skip
        """`lose` takes the cost of conversations that have no result. Without `workspaces`, no case
        has one."""
        self._plan = plan
        self._engine = engine
        self._dispatcher = dispatcher
        self._calls = calls
        self._run_id = run_id
        self._executor = executor
        self._all_workspaces = workspaces
        self._changes: dict[str, Changes] = {}
        """What was changed in workspaces, by the sessions of their trials."""
        self._is_capped = plan.options.max_cost_usd is not None
        self._lose = lose

    @property
    def _workspaces(self) -> Workspaces:
        assert self._all_workspaces is not None
        return self._all_workspaces

    def hash_question(self, trial: Trial, files: dict[str, str] | Finding | None = None) -> str:
        case, workspace = trial.case, None
        if files is None:
            files = self._find_files(trial)
        if "workspace" in case._data:
            workspace = self._workspaces.digest(case, trial.suite, trial.target)[0]
        if isinstance(files, Finding):
            files = {"": files.message}
        elif files:
            files = digest_files(files)
        return hash_question(case, files, workspace)

    def hash_grading(
        self, case: Case, suite: str, graders: Sequence[NamedGrader] | None = None
    ) -> str:
        if graders is None:
            graders = self._plan.graders.of(case)
        hidden = None
        if "workspace" in case._data:
            hidden = self._workspaces.digest(case, suite)[1]
        return hash_grading(case, self._plan.graders.prints_for(case, graders), hidden)

    def question(self, trial: Trial) -> Question | None:
        """The one question of a trial; None if it has none, or several."""
        files = self._find_files(trial)
        if trial.case.skip or trial.case.is_conversation or isinstance(files, Finding):
            return None
        return self._question(trial, files)

    def is_cached(self, target: str, question: Question) -> Awaitable[bool]:
        return self._dispatcher.is_cached(target, question)

    async def run_in_workspace(self, trial: Trial) -> Result:
        """The same in a workspace, which is removed in the end."""
        space = self._workspaces.reserve(trial.case, trial.suite, trial.target)
        try:
            result = await self.run(trial, space)
            keep = self._plan.options.keep_workspaces
            is_kept = keep == "all" or (keep == "failed" and result.verdict != "passed")
            kept = await self._workspaces.remove(space, keep=is_kept)
        finally:
            await self._workspaces.remove(space)
        if kept is None:
            return result
        if result.workspace is not None:
            return replace(result, workspace=replace(result.workspace, kept=kept))
        if result.failure is not None:
            details = {**result.failure.details, "kept_workspace": kept}
            return replace(result, failure=replace(result.failure, details=details))
        self._plan.warn(f"the workspace of case `{trial.case.id}` is in {kept}")
        return result

    async def run(self, trial: Trial, space: Space | None = None) -> Result:
        """Ask, and grade the answer. Raise CancelledError if Ctrl-C ended it without a result."""
        started, case, target = stamp(), trial.case, trial.target
        data = case._data
        if skip := data.get("skip"):
            reason = skip if isinstance(skip, str) else "skipped"
            return Result(
                trial.key, self.hash_question(trial), "skipped", None, (),
                Failure("stopped", reason), 0, started, 0.0,
                grading_hash=self.hash_grading(case, trial.suite), number=trial.number,
            )  # fmt: skip
        if case.is_conversation:
            return await self._converse(trial, started, space)
        files = self._find_files(trial)
        question = self._question(trial, files, space=space)
        if isinstance(files, Finding):
            asked = Asked(None, Failure("exception", files.message), 0, 0.0)
        else:
            asked = await self._dispatcher.ask(target, question, data.get("timeout_s"))
            if asked.interrupted and self._engine.interrupted:  # by Ctrl-C: there is no result
                raise asyncio.CancelledError
            if self._dispatcher.holds_sessions(target):
                await self._dispatcher.end_session(target, question.session)
        answer, failure = _cap(asked)
        verdict: Verdict = "errored"
        grades: tuple[Grade, ...] = ()
        graders = self._plan.graders.of(case)
        if answer is not None:
            if self._is_capped:
                self._check_cost(target, answer.cost_usd)
            verdict, grades = await self._grade(
                case, question, answer, self._looking(target, graders), asked.duration_s
            )
        return Result(
            trial.key, question.hash, verdict, answer, grades, failure,
            asked.attempts, started, round(asked.duration_s, 6), asked.retried,
            self.hash_grading(case, trial.suite, graders), 1, trial.repeats, case.pass_rate,
            trial.number, workspace=self._changes.pop(question.session, None),
        )  # fmt: skip

    @cached_property
    def _conversations(self) -> Conversations:
        from evalcase.runner.conversation import Conversations  # which few suites have

        return Conversations(self._dispatcher, self._plan.graders, self._grade, _cap, self._lose)

    async def _converse(self, trial: Trial, started: str, space: Space | None) -> Result:
        case, files = trial.case, self._find_files(trial)
        question = self._question(trial, files, space=space)
        # How far an earlier session of this trial came is unknown: this is another one.
        suffix = os.urandom(4).hex()
        question = replace(question, session=f"{question.session}-{suffix}")
        failure = None
        if self._plan.targets[trial.target].traits.batching is not None:
            failure = Failure("protocol", _NO_TALK)
        elif isinstance(files, Finding):
            failure = Failure("exception", files.message)
        talk, graded = await self._conversations.run(trial, question, failure)
        if talk.interrupted and self._engine.interrupted:
            raise asyncio.CancelledError
        answer, user = None, None
        turns: tuple[Turn, ...] = ()
        if talk.failure is None:
            answer = join_turns(talk.exchanges)
            turns = tuple([each.turn for each in talk.exchanges])
            self._check_cost(trial.target, answer.cost_usd)
            user = None if case.user is None else talk.sum_user(case.user)
            if user is not None and user.asked:
                self._check_cost(user.target, user.cost_usd)
        return Result(
            trial.key, question.hash, graded.verdict, answer, graded.grades, talk.failure,
            1 + len(talk.retried), started, round(talk.duration_s, 6), talk.retried,
            self.hash_grading(case, trial.suite), 1, trial.repeats, case.pass_rate, trial.number,
            turns, talk.ending, user, self._changes.pop(question.session, None),
        )  # fmt: skip

    async def regrade(self, trial: Trial, known: Result, grading: int) -> Result:
        """Grade a stored answer by the case as it is now. No target is asked for it.

        Raise UnaskedTurnsError where turns would be asked now that never were.
        """
        assert known.answer is not None
        case, space = trial.case, None
        graders = self._looking(trial.target, self._plan.graders.of(case))
        files = self._find_files(trial)
        try:
            if known.workspace is not None and case.has_workspace:
                all_graders = [each.grader for one in graders for each in all_in(one)]
                if any(grader.workspace == "files" for grader in all_graders):
                    space = await self._rebuild(trial, known.workspace, graders)
            question = self._question(trial, files, known.question_hash, space)
            if known.workspace is not None:
                self._changes[question.session] = known.workspace
            if case.is_conversation:
                graded = await self._conversations.regrade(case, question, known)
            else:
                graded = await self._grade(case, question, known.answer, graders, known.duration_s)
            self._changes.pop(question.session, None)
        finally:
            if space is not None:
                await self._workspaces.remove(space)
        return replace(
            known, verdict=graded.verdict, grades=graded.grades, failure=None,
            grading_hash=self.hash_grading(case, trial.suite), grading=grading,
            repeats=trial.repeats, pass_rate=case.pass_rate, number=trial.number,
        )  # fmt: skip

    async def _grade(
        self, case: Case, question: Question, answer: Answer, graders: Sequence[NamedGrader],
        duration_s: float, turns: int = 1,
    ) -> Graded:  # fmt: skip
        asker = partial(self._ask_for_grader, within=question)
        space, changes = question.workspace, self._changes.get(question.session)
        if space is not None and changes is None and case.has_workspace:
            try:
                fresh = _want_fresh(graders)
                taken = await self._workspaces.take(space, question.session, fresh=fresh)
            except WorkspaceError as error:
                space, taken = replace(space, fault=str(error)), None
            if taken is not None:
                space, changes = taken
                self._changes[question.session] = changes
        context = Context(
            case, question, answer, (), asker, None, duration_s, turns, space, changes
        )
        limit_s = self._plan.config.grader_timeout_s
        if self._executor is not None and self._executor.must_grade(answer, graders):
            grades = await self._executor.grade(context, graders, limit_s)
            return Graded(decide_verdict(grades, case.threshold), grades)
        return await grade_answer(context, graders, self._calls, limit_s)

    def _looking(self, target: str, graders: Sequence[NamedGrader]) -> Sequence[NamedGrader]:
        """Those of a case, unless --oracle has others for a target."""
        oracle = self._plan.oracle
        return graders if oracle is None else oracle.graders_at(target, graders)

    async def _ask_for_grader(
        self, name: str, messages: Sequence[Message], schema: JSON, usable: Usable | None,
        within: Question,
    ) -> Answer:  # fmt: skip
        answer = await self._dispatcher.ask_for_grader(name, messages, schema, usable, within)
        self._check_cost(name, answer.cost_usd)
        return answer

    async def _rebuild(
        self, trial: Trial, changes: Changes, graders: Sequence[NamedGrader]
    ) -> Space:
        """The workspace of a stored answer, or why it can't be made again."""
        isolation = changes.isolation
        space = self._workspaces.reserve(trial.case, trial.suite, trial.target, isolation)
        try:
            return await self._workspaces.rebuild(space, changes, fresh=_want_fresh(graders))
        except WorkspaceError as error:
            await self._workspaces.remove(space)
            return replace(space, fault=f"it can't be made again: {error}")

    def _find_files(self, trial: Trial) -> dict[str, str] | Finding:
        """The files in the content of a case: real paths by the names in the case."""
        if not trial.case.has_parts:
            return {}
        suite = os.path.join(self._plan.environment.cwd, trial.suite)
        return find_attachments(suite, trial.case.written_messages)

    def _question(
        self, trial: Trial, files: dict[str, str] | Finding, hash: str | None = None,
        space: Space | None = None,
    ) -> Question:  # fmt: skip
        """Everything but what is expected. Its files were there before the run, but may be gone."""
        suite, case, target, repeat, _, number = trial
        data = case._data
        return Question(
            tuple(map(take_message, data.get("input", ()))), data["id"], suite, repeat, 1,
            f"{self._run_id}-{number}-{target}-{repeat}", 1, data.get("conversation_id"),
            case.metadata if "metadata" in data else {},
            {} if isinstance(files, Finding) else files, None, space,
            hash or self.hash_question(trial, files),
        )  # fmt: skip

    def _check_cost(self, target: str, cost_usd: float | None) -> None:
        if self._is_capped and cost_usd is None:
            self._plan.warn(
                f"answers of `{target}` come without a cost: the spending cap can't be enforced"
            )


def _want_fresh(graders: Sequence[NamedGrader]) -> bool:
    """Whether some of them, or one inside of them, want a fresh copy of a workspace: an option of
    `run`."""
    return any(getattr(each.grader, "fresh", False) for one in graders for each in all_in(one))


def _cap(asked: Asked) -> tuple[Answer | None, Failure | None]:
    """The answer as it is stored, or why there is none."""
    if asked.answer is None:
        return None, asked.failure
    try:
        return cap_answer(asked.answer, MAX_ANSWER_BYTES), None
    except TooLargeError as error:
        return None, Failure("protocol", str(error), {"output": error.excerpt})
