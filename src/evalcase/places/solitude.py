"""One worker for what may have ended another: one thing at a time, with nothing beside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from evalcase.places.task import Task, Worker


class Solitude:
    """The worker, and who waits for it. There is none until somebody does."""

    def __init__(
        self, begin: Callable[[], Worker], give: Callable[[Task, Worker], None],
        give_back: Callable[[Worker], None] | None = None,
    ) -> None:  # fmt: skip
        """`give_back` takes the worker once nobody waits for it; else it is kept."""
        self._begin = begin
        self._give = give
        self._give_back = give_back
        self._waiting: deque[Task] = deque()
        self._session: str | None = None
        """The session that has it for itself, turn by turn, until it is over."""
        self.worker: Worker | None = None

    def add(self, task: Task) -> None:
        """Have something done once there is nothing else."""
        task.worker = None
        self._waiting.append(task)
        self.go_on()

    def leave(self, session: str) -> None:
        """A session is over."""
        if self._session == session:
            self._session = None
            self.go_on()

    def end(self) -> None:
        """Begin nothing any more."""
        for task in self._waiting:
            task.done.cancel()
        self._waiting.clear()

    def lose(self) -> None:
        """The worker has ended."""
        self.worker = self._session = None

    def go_on(self) -> None:
        """Begin with the next that waits, unless there is still something to do."""
        if self._session is not None or (self.worker is not None and self.worker.tasks):
            return
        while self._waiting:
            task = self._waiting.popleft()
            if task.done.done():
                continue  # nobody waits for it any more
            self.worker = self.worker or self._begin()
            self._session = task.session
            self._give(task, self.worker)
            return
        if self._give_back is not None and self.worker is not None:
            worker, self.worker = self.worker, None
            self._give_back(worker)
