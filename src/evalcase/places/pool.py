"""Workers, and who of them does what: each message goes to the one that has least to do.

What was under way when a worker ended is done again, alone, so that whatever ends workers is found
out and nothing beside it is blamed: what ends two of them while it is alone is given up.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from os import urandom
from typing import Any, NamedTuple

from evalcase.errors import TargetError
from evalcase.places.channel import Channel
from evalcase.places.solitude import Solitude
from evalcase.places.task import Task, Worker, WorkerLostError

LAST_CHANCE = 2
"""How many workers may end for one task, or one session, that is alone there."""
_MOST_FAILED_STARTS = 3
_LOOK_S = 0.2
_ANSWERS_WITHIN_S = 2.5
"""How long a worker may take to say that it is there; its event loop may be blocked for ever."""


class Room(NamedTuple):
    """How many workers there may be where they wait for machines."""

    most: int
    share: int
    """What each is given before others that are to come have their part."""


class Pool:
    """Sends messages to workers, of which there are so many."""

    def __init__(
        self, size: int, make: Callable[[], Channel], greeting: dict[str, Any],
        hear: Callable[[Worker, dict[str, Any]], None], lost: Callable[[str], None],
        most_bytes: int | None = None, room: Room | None = None,
    ) -> None:  # fmt: skip
        """`greeting` is what each worker is told first; `hear` takes what it says unasked, and
        `lost` how one has ended. With `room`, workers may have to wait for a machine: then they
        are given nothing before they are ready, and never become more than there is room for."""
        self._size = size
        self._room = room
        self._waiting: deque[Task] = deque()
        """What nobody can do just now."""
        self._failed_starts = 0
        self._make = make
        self._greeting = greeting
        self._hear = hear
        self._tell_lost = lost
        self._most_bytes = most_bytes
        self._workers: list[Worker] = []
        self._by_channel: dict[int, Worker] = {}
        self._solitude = (
            Solitude(self._begin, self._give) if room is None
            else Solitude(self._take_out, self._give, self._take_back)
        )  # fmt: skip
        self.is_held: Callable[[Worker], bool] = lambda _: False
        """Whether a worker holds a session that goes on."""
        self._starting: set[asyncio.Task[None]] = set()
        self._watch: asyncio.TimerHandle | None = None
        self._is_closed = False

    def open(self) -> None:
        """Start all workers."""
        self._fill()
        if self._most_bytes is not None:
            self._look_at_memory()

    def ask(
        self, message: dict[str, Any], worker: Worker | None = None, *, may_move: bool = True,
        is_within: bool = False,
    ) -> Task:  # fmt: skip
        """Have a worker answer: that one, or who has least to do. With `is_within`, something that
        is under way waits for it."""
        task = self._task(message, may_move=may_move)
        task.is_within = is_within
        if worker is not None and not worker.is_lost:
            self._give(task, worker)
        elif is_within or message["op"] != "ask":
            self._waiting.appendleft(task)  # what is under way may need it to come to its end
            self._go_on()
        else:
            self._waiting.append(task)
            self._go_on()
        return task

    def ask_alone(self, message: dict[str, Any], session: str) -> Task:
        """Have a worker answer that does nothing else until the session is over."""
        task = self._task(message, may_move=False)
        task.session = session
        self._solitude.add(task)
        return task

    def leave(self, session: str) -> None:
        """A session is over. If it was alone, something else may be; else who held it may do
        nothing now."""
        self._solitude.leave(session)
        self._solitude.go_on()

    def drop(self, task: Task) -> None:
        """Nobody waits for it any more."""
        task.done.cancel()
        if task.worker is not None and task.worker.tasks.pop(task.number, None) is not None:
            task.worker.dropped.add(task.number)
            task.worker.channel.send({"op": "drop", "n": task.number})
            self._solitude.go_on()
            self._go_on()

    async def is_there(self, worker: Worker) -> None:
        """See whether a worker answers at all. One that doesn't is ended."""
        if not worker.is_ready or worker.is_lost:
            return  # it may be slow to start, and nothing of the user's is at work there yet
        ping = self.ask({"op": "ping"}, worker)
        await asyncio.wait([ping.done], timeout=_ANSWERS_WITHIN_S)
        worker.tasks.pop(ping.number, None)
        if ping.done.done():
            ping.done.exception()
            return
        ping.done.cancel()
        worker.is_blocked = True
        worker.channel.kill("its event loop was blocked, and it was ended")

    async def close(self, grace_s: float) -> None:
        """End all of them."""
        self._is_closed = True
        self._solitude.end()
        if self._watch is not None:
            self._watch.cancel()
        if self._room is not None:
            for starting in self._starting:
                starting.cancel()  # there may never be a machine for it
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(worker.channel.close(grace_s) for worker in self._every()))

    def take(self, channel: Channel, message: dict[str, Any]) -> None:
        """What a worker says: an answer, or something of its own."""
        worker = self._by_channel.get(id(channel))
        if worker is None:
            return
        if "op" in message:
            if message["op"] == "ready":
                worker.is_ready, self._failed_starts = True, 0
                self._solitude.go_on()
                self._go_on()
            else:
                self._hear(worker, message)
            return
        if not worker.take_answer(message.pop("n"), message):
            return
        if worker is self._solitude.worker or (self._room is not None and not worker.tasks):
            self._solitude.go_on()
        if self._waiting:
            self._go_on()

    def lose(self, channel: Channel, how: str) -> None:
        """A worker has ended, with all that it was at."""
        worker = self._by_channel.pop(id(channel), None)
        if worker is None:
            return
        worker.is_lost = True
        if not self._is_closed:
            self._tell_lost(how)
        if worker is self._solitude.worker:
            self._solitude.lose()
        else:
            self._workers.remove(worker)  # another is started once there is something to do
        tasks = [task for task in worker.tasks.values() if not task.done.done()]
        worker.tasks.clear()
        is_alone = sum(not task.is_within for task in tasks) <= 1
        for task in tasks:
            self._do_again(task, worker, how, is_alone=is_alone)
        self._solitude.go_on()
        self._failed_starts += not worker.is_ready
        if self._failed_starts >= _MOST_FAILED_STARTS:
            self._give_up(how)
        self._go_on()

    def _do_again(self, task: Task, worker: Worker, how: str, *, is_alone: bool) -> None:
        if is_alone:
            # Alone, and past its time: nobody else can have blocked the worker.
            task.deaths += LAST_CHANCE if worker.is_blocked else 1
        if task.deaths >= LAST_CHANCE or self._is_closed or not task.may_move:
            task.done.set_exception(WorkerLostError(how))
        else:
            self._solitude.add(task)

    def _task(self, message: dict[str, Any], *, may_move: bool) -> Task:
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        return Task(int.from_bytes(urandom(8), "big"), message, done, may_move=may_move)

    def _go_on(self) -> None:
        """Give what waits to who can do it."""
        while self._waiting:
            task = self._waiting[0]
            if not task.done.done():
                self._fill()
                worker = self._choose(task)
                if worker is None:
                    return
                self._give(task, worker)
            self._waiting.popleft()

    def _fill(self) -> None:
        """Have as many workers as there are to be."""
        alone = self._room is not None and self._solitude.worker is not None
        while len(self._workers) + alone < self._size and not self._is_closed:
            self._workers.append(self._begin())

    def _choose(self, task: Task) -> Worker | None:
        """Who has least to do; None if that is to wait until more are ready."""
        room = self._room
        if room is None:
            return min(self._workers, key=_count_tasks)
        ready = [worker for worker in self._workers if worker.is_ready]
        if self._solitude.lacks_worker and task.message["op"] == "ask" and not task.is_within:
            ready = ready[1:]  # the first is let come to its end
        if not ready:
            alone = self._solitude.worker
            return alone if task.is_within and alone is not None and alone.is_ready else None
        least = min(ready, key=_count_tasks)
        if task.is_within or len(least.tasks) < room.share:
            return least
        if self._size < room.most and len(ready) == len(self._workers):
            self._size += 1
            self._fill()
        return least if len(ready) == len(self._workers) else None

    def _take_out(self) -> Worker | None:
        """One that has nothing to do, for what is to be done alone. None is begun for it beside
        the others: they may have all the room that there is."""
        self._fill()
        for worker in self._workers:
            if worker.is_ready and not worker.tasks and not self.is_held(worker):
                self._workers.remove(worker)
                return worker
        return None

    def _take_back(self, worker: Worker) -> None:
        """One that was alone has nothing left to do so."""
        self._workers.append(worker)
        self._go_on()

    def _give_up(self, how: str) -> None:
        """No worker starts, and nothing says that another would."""
        if self._room is not None and not any(worker.is_ready for worker in self._every()):
            for task in self._waiting:
                if not task.done.done():
                    task.done.set_exception(TargetError(how))
            self._waiting.clear()
            self._solitude.give_up(TargetError(how))

    def _give(self, task: Task, worker: Worker) -> None:
        task.worker = worker
        worker.tasks[task.number] = task
        worker.channel.send({**task.message, "n": task.number})

    def _every(self) -> Iterator[Worker]:
        yield from self._workers
        if self._solitude.worker is not None:
            yield self._solitude.worker

    def _begin(self) -> Worker:
        """A new worker, which is told first what it has to know."""
        worker = Worker(self._make())
        self._by_channel[id(worker.channel)] = worker
        worker.channel.send(self._greeting)
        starting = asyncio.ensure_future(self._start(worker))
        self._starting.add(starting)
        starting.add_done_callback(self._starting.discard)
        return worker

    async def _start(self, worker: Worker) -> None:
        """One that can't be started is lost as one that ends: whoever waits is told why."""
        try:
            await worker.channel.start(self)
        except TargetError as error:
            self.lose(worker.channel, str(error))

    def _look_at_memory(self) -> None:
        assert self._most_bytes is not None
        for worker in self._every():
            if (worker.channel.memory_bytes() or 0) > self._most_bytes:
                worker.channel.kill(f"it took more than {self._most_bytes // 10**6} MB of memory")
        self._watch = asyncio.get_running_loop().call_later(_LOOK_S, self._look_at_memory)


def _count_tasks(worker: Worker) -> int:
    return len(worker.tasks)
