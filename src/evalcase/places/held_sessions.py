"""Sessions of targets that remember: all of one go to the same worker. One whose worker ended is
begun again, alone; and is given up once it has ended two workers that did nothing else."""

from __future__ import annotations

from typing import Any

from evalcase.errors import TargetError
from evalcase.places.pool import LAST_CHANCE, Pool
from evalcase.places.task import Task, Worker
from evalcase.runner.dispatch import SessionLostError, is_users, trial_of_session
from evalcase.types.question import Question

_LAST_CHANCE_OF_USER = 4
"""They are never alone: the session that they talk to may be, and waits for them."""


class HeldSessions:
    """Who holds what."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._first: dict[str, Task] = {}
        """What each session was begun with: its worker has the session."""
        self._alone: dict[str, int] = {}
        """Trials whose sessions are to be alone, with how many workers they have ended so."""

    def ask(self, question: Question, message: dict[str, Any]) -> Task:
        """Ask who holds a session, or begin it. Raise SessionLostError or TargetError if whoever
        held it has ended."""
        session = question.session
        first = self._first.get(session)
        if first is not None and first.worker is not None and not first.worker.is_lost:
            return self._pool.ask(message, first.worker, may_move=False)
        if first is not None and question.turn > 1:
            raise self.lose(question, "it ended between two turns")
        is_user = is_users(session)
        if trial_of_session(session) in self._alone and not is_user:
            task = self._pool.ask_alone(message, session)
        else:
            task = self._pool.ask(message, may_move=False, is_within=is_user)
        self._first[session] = task
        return task

    def has_one_of(self, worker: Worker) -> bool:
        """Whether a session goes on there."""
        return any(first.worker is worker for first in self._first.values())

    def lose(self, question: Question, how: str) -> TargetError:
        """What to say of a session whose worker has ended; it is to be begun alone, if at all."""
        trial = trial_of_session(question.session)
        first = self._first.pop(question.session, None)
        is_user = is_users(question.session)
        counts = is_user or (first is not None and first.session is not None)
        deaths = self._alone[trial] = self._alone.get(trial, 0) + counts
        self._pool.leave(question.session)
        if deaths >= (_LAST_CHANCE_OF_USER if is_user else LAST_CHANCE):
            del self._alone[trial]
            return describe_end(how)
        why = f"the process that held the session ended, and is started again: {how}"
        return SessionLostError(why, kind="exit")

    def end(self, session: str) -> Worker | None:
        """A session is over. Out comes who holds something for it, if it is still there."""
        first = self._first.pop(session, None)
        if first is None:
            return None  # it was lost, and may be begun again
        self._alone.pop(trial_of_session(session), None)
        self._pool.leave(session)
        worker = first.worker
        return worker if worker is not None and not worker.is_lost else None


def describe_end(how: str) -> TargetError:
    """What is recorded of a trial that ends whoever is to answer it."""
    why = f"the process that was to answer ended, also when it did nothing else: {how}"
    return TargetError(why, kind="exit")
