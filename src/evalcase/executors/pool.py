"""Workers, and the requests under way at each: a request goes to the worker with the fewest.

When a worker ends, its requests are repeated in quarantine, one at a time in a worker that does
nothing else. So the request that ends workers is found, and no other is blamed for it: one that
ends two workers in quarantine is given up. All questions of a session with a target that remembers
go to the same worker; if that ends, the session is begun again in quarantine.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from os import urandom
from typing import Any

from evalcase.errors import TargetError
from evalcase.executors import protocol
from evalcase.runner.dispatch import SessionLostError, is_graders, is_users, trial_of_session

_LAST_CHANCE = 2
"""How many workers a request or session may end in quarantine."""
_LAST_CHANCE_NESTED = 4
"""A simulated user or a judge is never in quarantine: what waits for it may be there."""
NO_MESSAGE = "it wrote something that is not a message"
_MOST_FAILED_STARTS = 3
_PONG_S = 2.5
"""How long a worker may take to answer a ping."""
_OF_ONE_WORKER = (protocol.EndSession, protocol.Ping)


class Task:
    """A request, until its reply is there."""

    def __init__(self, body: protocol.Body, session: str | None = None) -> None:
        """`session` is that of a question, if its target remembers."""
        self.request = protocol.Request(int.from_bytes(urandom(7), "big"), body)
        self.done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.worker: Worker | None = None
        self.session = session
        self.deaths = 0
        """How many workers ended while they did nothing else."""
        question = body.question if isinstance(body, protocol.Ask) else None
        self.is_nested = question is not None and _is_nested(question.session)
        self.is_new = question is not None and not self.is_nested
        """Whether nothing that is under way can be waiting for it."""
        self.goes_on = session is not None and question is not None and question.turn > 1
        """Whether the worker of the session knows earlier turns."""
        self.may_move = session is None and not isinstance(body, _OF_ONE_WORKER)
        """Whether another worker can do it."""


def _is_nested(session: str) -> bool:
    """Whether a trial or a grader that is under way waits for it."""
    return is_users(session) or is_graders(session)


class Worker(ABC):
    """A worker, as the run sees it."""

    pool: Pool

    def __init__(self) -> None:
        self.tasks: dict[int, Task] = {}
        self.is_ready = False
        self.is_lost = False
        self.is_blocked = False

    @abstractmethod
    async def start(self) -> None:
        """Raise TargetError if it can't be started."""

    @abstractmethod
    async def close(self, grace_s: float) -> None:
        """Let it tear down, and end it if that takes longer."""

    @abstractmethod
    def send(self, message: protocol.ToWorker) -> None:
        """Send a message; it has started."""

    @abstractmethod
    def end(self) -> None:
        """End it at once."""

    def kill(self, why: str) -> None:
        self.end()
        self.lose(why)

    def receive(self, line: bytes) -> None:
        """Take a line that it wrote. After one that is no message, nothing is believed."""
        if self.is_lost:
            return
        try:
            message = protocol.read_from_worker(line)
        except ValueError as error:
            self.kill(f"{NO_MESSAGE}: {error!s:.200}")
        else:
            self.pool.receive(self, message)

    def lose(self, how: str) -> None:
        """Report, once, that it has ended."""
        if not self.is_lost:
            self.pool.lose(self, how)


class Pool:
    """Sends requests to workers."""

    def __init__(
        self, counts: tuple[int, int], share: int, make: Callable[[], Worker],
        setup: protocol.Setup,
        listen: Callable[[Worker, protocol.AskJudge | protocol.Warned], None],
        warn_lost: Callable[[str], None],
    ) -> None:  # fmt: skip
        """There are as many workers as the first of `counts` says, and up to the second while all
        are busy. Each gets its `share` of requests before the others are ready. `listen` gets what
        workers write that is no reply, and `warn_lost` how one ended."""
        self._count, self._most = counts
        self._share = share
        self._make = make
        self._setup = setup
        self._listen = listen
        self._warn_lost = warn_lost
        self._workers: list[Worker] = []
        self._waiting: deque[Task] = deque()
        self._quarantine: deque[Task] = deque()
        self._isolated: Task | None = None
        """The last task that was given to a worker in quarantine."""
        self._sessions: dict[str, Worker] = {}
        self._lost: dict[str, TargetError] = {}
        """Sessions whose workers ended between two turns."""
        self._deaths: dict[str, int] = {}
        """Trials whose sessions were lost, with the number of workers that they ended alone."""
        self._failed_starts = 0
        self._starting: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def open(self) -> None:
        async def start(worker: Worker) -> None:
            try:
                await worker.start()
                worker.send(self._setup)
            except TargetError as error:
                worker.lose(str(error))

        while len(self._workers) < self._count:
            worker = self._make()
            worker.pool = self
            self._workers.append(worker)
            starting = asyncio.ensure_future(start(worker))
            self._starting.add(starting)
            starting.add_done_callback(self._starting.discard)

    async def close(self, grace_s: float) -> None:
        self._is_closed = True
        for task in self._quarantine:
            task.done.cancel()
        self._quarantine.clear()
        for starting in self._starting:
            starting.cancel()  # there may never be a machine for it
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(worker.close(grace_s) for worker in self._workers))

    # Requests.

    def ask(self, task: Task, worker: Worker | None = None) -> Task:
        """Send a request to that worker, to that of its session, or to the one with the fewest."""
        session = task.session or ""
        worker = worker or self._sessions.get(session)
        lost = self._lost.pop(session, None)
        if lost is not None and task.goes_on:
            task.done.set_exception(lost)
        elif worker is not None and not worker.is_lost:
            self._give(task, worker)
        elif task.is_new and session and trial_of_session(session) in self._deaths:
            self._quarantine.append(task)
        elif task.is_new:
            self._waiting.append(task)
        else:
            self._waiting.appendleft(task)  # what is under way may need it to come to its end
        self._dispatch()
        return task

    def end_session(self, session: str) -> Worker | None:
        """A session is over: the worker that holds something for it, if it is still there."""
        self._lost.pop(session, None)
        worker = self._sessions.pop(session, None)
        if worker is not None:  # else it was lost, and may be begun again
            self._deaths.pop(trial_of_session(session), None)
        self._dispatch()
        return worker

    def drop(self, task: Task) -> None:
        """The caller no longer waits."""
        task.done.cancel()
        worker, number = task.worker, task.request.number
        if worker is not None and worker.tasks.pop(number, None) is not None:
            worker.send(protocol.Drop(number))
            self._dispatch()

    async def check(self, worker: Worker) -> None:
        """End a worker whose event loop is blocked."""
        if not worker.is_ready or worker.is_lost:
            return
        ping = self.ask(Task(protocol.Ping()), worker)
        await asyncio.wait([ping.done], timeout=_PONG_S)
        worker.tasks.pop(ping.request.number, None)
        if ping.done.done():
            ping.done.exception()
            return
        ping.done.cancel()
        worker.is_blocked = True
        worker.kill("its event loop was blocked, and it was ended")

    # What workers do.

    def receive(self, worker: Worker, message: protocol.ToRun) -> None:
        match message:
            case protocol.Reply():
                self._take_reply(worker, message)
            case protocol.Ready():
                worker.is_ready, self._failed_starts = True, 0
            case protocol.Ending():
                worker.kill(message.why or NO_MESSAGE)
            case _:
                self._listen(worker, message)
                return
        self._dispatch()

    def _take_reply(self, worker: Worker, reply: protocol.Reply) -> None:
        task = worker.tasks.get(reply.number)
        if task is None:
            return  # it was dropped
        expected = protocol.REPLIES[type(task.request.body)]
        if not isinstance(reply.body, (expected, protocol.Refused)):
            worker.kill(NO_MESSAGE)
            return
        del worker.tasks[reply.number]
        if not task.done.done():
            task.done.set_result(reply.body)

    def lose(self, worker: Worker, how: str) -> None:
        """A worker has ended. Another is started once there is something to do."""
        worker.is_lost = True
        self._workers.remove(worker)
        if not self._is_closed:
            self._warn_lost(how)
        held = [session for session, its in self._sessions.items() if its is worker]
        for session in held:
            del self._sessions[session]
            self._lost[session] = self._lose_session(session, how)
        tasks = [task for task in worker.tasks.values() if not task.done.done()]
        worker.tasks.clear()
        was_alone = sum(not task.is_nested for task in tasks) <= 1
        for task in tasks:
            if was_alone:
                # Alone, and past its time: no other task can have blocked the worker.
                task.deaths += _LAST_CHANCE if worker.is_blocked else 1
            if not task.may_move:
                lost = self._lost.pop(task.session or "", None)
                task.done.set_exception(lost or _make_final(how))
            elif task.deaths >= _LAST_CHANCE or self._is_closed:
                task.done.set_exception(_make_final(how))
            else:
                task.worker = None
                self._quarantine.append(task)
        # Where one was ready before, workers do start.
        self._failed_starts = 0 if worker.is_ready else self._failed_starts + 1
        if self._failed_starts >= _MOST_FAILED_STARTS and not self._ready():
            self._give_up(TargetError(f"no worker starts: {how}"))
        self._dispatch()

    def _give_up(self, error: TargetError) -> None:
        """Nothing says that another worker would start."""
        for task in (*self._waiting, *self._quarantine):
            if not task.done.done():
                task.done.set_exception(error)
        self._waiting.clear()
        self._quarantine.clear()

    def _lose_session(self, session: str, how: str) -> TargetError:
        """The error of a session whose worker has ended."""
        trial, is_nested = trial_of_session(session), _is_nested(session)
        isolated = self._isolated
        was_alone = is_nested or (isolated is not None and isolated.session == session)
        deaths = self._deaths[trial] = self._deaths.get(trial, 0) + was_alone
        if deaths >= (_LAST_CHANCE_NESTED if is_nested else _LAST_CHANCE):
            del self._deaths[trial]
            return _make_final(how)
        why = f"the process that held the session ended, and is started again: {how}"
        return SessionLostError(why, kind="exit")

    # Which worker does what.

    def _dispatch(self) -> None:
        """Give waiting tasks to the workers that may have them."""
        for queue in (self._quarantine, self._waiting):
            while queue and queue[0].done.done():
                queue.popleft()
        if self._is_closed:
            return
        if self._quarantine or self._waiting:
            self.open()
        self._dispatch_quarantine()
        while self._waiting:
            task = self._waiting[0]
            if not task.done.done():
                if (worker := self._choose(task)) is None:
                    return
                self._give(task, worker)
            self._waiting.popleft()

    def _dispatch_quarantine(self) -> None:
        if self._find_isolated() is not None:
            return
        idlest = self._find_idlest()
        if idlest is not None and not idlest.tasks and not self._is_held(idlest):
            self._isolated = self._quarantine.popleft()
            self._give(self._isolated, idlest)

    def _find_isolated(self) -> Worker | None:
        """The worker of the task in quarantine, or of its session, turn by turn."""
        task = self._isolated
        if task is None or (task.done.done() and task.session not in self._sessions):
            return None
        return task.worker

    def _find_idlest(self) -> Worker | None:
        """The worker for the next task in quarantine: until it is idle, it gets no new work. To
        wait for a new one may take for ever: its machine may be gone."""
        if not self._quarantine:
            return None
        ready = self._ready()
        return min(ready, key=lambda each: (self._is_held(each), len(each.tasks)), default=None)

    def _choose(self, task: Task) -> Worker | None:
        reserved = self._find_isolated() or self._find_idlest()
        ready = self._ready()
        free = [worker for worker in ready if worker is not reserved]
        if not free:
            return None if task.is_new else reserved
        least = min(free, key=lambda each: len(each.tasks))
        if not task.is_new or len(least.tasks) < self._share:
            return least
        if len(ready) < len(self._workers):
            return None  # workers that start get their share
        if self._count == self._most:
            return least
        self._count += 1
        self.open()
        return None

    def _is_held(self, worker: Worker) -> bool:
        return worker in self._sessions.values()

    def _give(self, task: Task, worker: Worker) -> None:
        task.worker = worker
        if task.session is not None:
            self._sessions[task.session] = worker
        worker.tasks[task.request.number] = task
        worker.send(task.request)

    def _ready(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.is_ready]


def _make_final(how: str) -> TargetError:
    why = f"the process that was to answer ended, also when it did nothing else: {how}"
    return TargetError(why, kind="exit")
