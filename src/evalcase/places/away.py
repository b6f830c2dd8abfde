"""A place that is made of workers: attempts and grades by messages, targets by stand-ins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from evalcase.config.graders import is_ours
from evalcase.errors import EvalcaseError, TargetError
from evalcase.places.held_sessions import HeldSessions, describe_end
from evalcase.places.pool import Pool
from evalcase.places.replies import Read, attempt_of, grades_of
from evalcase.places.stand_in import StandIn
from evalcase.places.task import Task, Worker, WorkerLostError
from evalcase.places.wire import MOST_HELD, describe_failure
from evalcase.runner.attempt import Attempted
from evalcase.runner.dispatch import is_graders, is_users
from evalcase.types.answer import Answer, Failure
from evalcase.types.codec import encode_object
from evalcase.types.grade import Grade
from evalcase.types.grader import Asker, Context, NamedGrader
from evalcase.types.message import Message
from evalcase.types.question import Question
from evalcase.types.target import Target
from evalcase.util.environment import monotonic
from evalcase.util.user_calls import GRACE_S

CLOSE_WORKERS_S = 6.0
"""How long workers may take to tear down: a little more than their targets may."""


class _Held(NamedTuple):
    """Where an answer is that came here without a secret."""

    worker: Worker
    number: int
    answer: Answer
    """As it came."""


class Away:
    """Workers as a place."""

    def __init__(self, make_pool: Callable[[Away], Pool], warn: Callable[[str], None]) -> None:
        self._make_pool = make_pool
        self._warn = warn
        self._askers: dict[int, Asker] = {}
        """Who asks for the graders of a message that is under way, by its number."""
        self._asking: set[asyncio.Task[None]] = set()
        self._held: dict[tuple[str, int], _Held] = {}
        self._stand_ins: dict[str, StandIn] = {}

    async def __aenter__(self) -> Away:
        self.begin()
        try:
            self._pool = self._make_pool(self)
            self._sessions = HeldSessions(self._pool)
            self._pool.is_held = self._sessions.has_one_of
            self._pool.open()
        except BaseException:
            self.leave()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._asking:
            task.cancel()
        try:
            await self._pool.close(CLOSE_WORKERS_S)
        finally:
            self.leave()

    def begin(self) -> None:
        """See to what workers need to be there. Raise ConfigError if that can't be."""

    def leave(self) -> None:
        """Let go of it; all workers are gone."""

    def stand_in(self, name: str) -> Target:
        self._stand_ins[name] = StandIn(name, self)
        return self._stand_ins[name]

    async def exchange(
        self, message: dict[str, Any], read: Read, worker: Worker | None = None
    ) -> Any:  # noqa: ANN401 - whatever it reads
        """What a worker says to a message, as it is read. Raise ConfigError or TargetError if
        it can't."""
        task = self._pool.ask(message, worker, may_move=worker is None)
        task.read = read
        try:
            return _accept_reply(await task.done)
        except WorkerLostError as error:
            raise describe_end(str(error)) from None

    def end_session(self, session: str) -> Worker | None:
        """A session is over. Out comes who holds something for it."""
        return self._sessions.end(session)

    async def attempt(self, name: str, question: Question, limit_s: float) -> Attempted:
        session = question.session
        is_alone = is_graders(session)
        message = {
            "op": "ask", "target": name, "question": encode_object(question), "limit_s": limit_s,
            "is_alone": is_alone,
        }  # fmt: skip
        is_within = is_alone or is_users(session)
        holds = self._stand_ins[name].remembers and not is_alone
        started = monotonic()
        task = None
        try:
            if holds:
                task = self._sessions.ask(question, message)
            else:
                task = self._pool.ask(message, is_within=is_within)
            task.read = partial(attempt_of, limit_s=limit_s)
            tried: Attempted = _accept_reply(await self._wait(task, limit_s))
        except WorkerLostError as error:
            why = self._sessions.lose(question, str(error)) if holds else describe_end(str(error))
            return Attempted(None, why, monotonic() - started)
        except TargetError as error:
            return Attempted(None, error, monotonic() - started)
        except BaseException:
            if task is not None:
                self._pool.drop(task)
            raise
        if tried.answer is not None and tried.answer.scrubbed:
            self._hold(question, task, tried.answer)
        return tried

    def _hold(self, question: Question, task: Task, answer: Answer) -> None:
        assert task.worker is not None
        if len(self._held) >= MOST_HELD:
            del self._held[next(iter(self._held))]
        self._held[question.session, question.turn] = _Held(task.worker, task.number, answer)

    def must_grade(self, answer: Answer, graders: Sequence[NamedGrader]) -> bool:
        return answer.scrubbed or not all(map(is_ours, graders))

    async def grade(
        self, context: Context, graders: Sequence[NamedGrader], limit_s: float
    ) -> tuple[Grade, ...]:
        question, answer = context.question, context.answer
        message: dict[str, Any] = {
            "op": "grade", "case": context.case._data, "question": encode_object(question),
            "answer": encode_object(answer), "duration_s": context.duration_s,
            "turns": context.turns,
        }  # fmt: skip
        held = self._held.pop((question.session, question.turn), None)
        if held is not None and held.answer is answer:
            message["held"] = held.number
        task = self._pool.ask(message, held.worker if held is not None else None)
        task.read = grades_of
        limits = [each.timeout_s or limit_s for each in graders if not is_ours(each)]
        assert context.asker is not None
        self._askers[task.number] = context.asker
        try:
            grades: tuple[Grade, ...] = _accept_reply(
                await self._wait(task, max(limits, default=limit_s))
            )
            return grades
        except WorkerLostError as error:
            return _make_broken_grades(str(describe_end(str(error))))
        except TargetError as error:
            return _make_broken_grades(str(error))
        except BaseException:
            self._pool.drop(task)
            raise
        finally:
            del self._askers[task.number]

    def hear(self, worker: Worker, message: dict[str, Any]) -> None:
        """Take what a worker says of its own: a warning, or a question of a grader's."""
        if message["op"] == "warn":
            self._warn(str(message["text"]))
            return
        asker = self._askers.get(message["n"])
        if asker is not None:
            asking = asyncio.ensure_future(self._ask(worker, message, asker))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)

    def hear_lost(self, how: str) -> None:
        """Tell of a worker that has ended."""
        self._warn(f"a worker ended: {how}. What was under way there is done again, alone")

    async def _ask(self, worker: Worker, message: dict[str, Any], asker: Asker) -> None:
        """Ask for a grader. An answer that only the grader can tell is of use is not cached."""
        usable = None if message["keep"] else _is_of_no_use
        try:
            messages = [Message(each) for each in message["messages"]]
            answer = await asker(message["target"], messages, message["schema"], usable)
            told: dict[str, Any] = {"answer": encode_object(answer)}
        except Exception as error:  # noqa: BLE001 - the boundary: whoever asked is told
            told = describe_failure(error)
        if not worker.is_lost:
            worker.channel.send({"op": "told", "n": message["k"], **told})

    async def _wait(self, task: Task, limit_s: float) -> Any:  # noqa: ANN401 - as it was read
        """What is answered. A worker keeps the limit itself, unless its event loop is blocked."""
        while not task.done.done():
            await asyncio.wait([task.done], timeout=limit_s + GRACE_S)
            if not task.done.done() and task.worker is not None:
                await self._pool.is_there(task.worker)
        return task.done.result()


def _make_broken_grades(why: str) -> tuple[Grade, ...]:
    return (Grade("worker", None, False, why, failure=Failure("grader", why)),)


def _is_of_no_use(answer: Answer) -> bool:
    del answer
    return False


def _accept_reply(read: Any) -> Any:  # noqa: ANN401 - as it was read
    if isinstance(read, EvalcaseError):
        raise read
    return read
