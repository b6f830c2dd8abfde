"""One worker for what may have ended another: one thing at a time, with nothing beside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from evalcase.places.task import Task, Worker


class Solitude:
    """The worker, and who waits for it. There is none until somebody does."""

    def __init__(
        self, find: Callable[[], Worker | None], give: Callable[[Task, Worker], None],
        give_back: Callable[[Worker], None] | None = None,
    ) -> None:  # fmt: skip
        """`find` gives a worker that does nothing, or nothing if there is none yet: then it is to
        be gone on with once there is. `give_back` takes it once nobody waits for it; else it is
        kept."""
        self._find = find
        self._give = give
        self._give_back = give_back
        self._waiting: deque[Task] = deque()
        self._session: str | None = None
        """The session that has it for itself, turn by turn, until it is over."""
        self.worker: Worker | None = None

    @property
    def lacks_worker(self) -> bool:
        """Whether somebody waits until a worker does nothing else."""
        return self.worker is None and any(not task.done.done() for task in self._waiting)

    def add(self, task: Task) -> None:
        """Have something done once there is nothing else."""
        task.worker = None
        self._waiting.append(task)
        self.go_on()

    def leave(self, session: str) -> None:
        """A session is over."""
        if self._session == session:
            self._session = None

    def end(self) -> None:
        """Begin nothing any more."""
        for task in self._waiting:
            task.done.cancel()
        self._waiting.clear()

    def give_up(self, error: Exception) -> None:
        """There will be no worker."""
        for task in self._waiting:
            if not task.done.done():
                task.done.set_exception(error)
        self._waiting.clear()

    def lose(self) -> None:
        """The worker has ended."""
        self.worker = self._session = None

    def go_on(self) -> None:
        """Begin with the next that waits, unless there is still something to do."""
        if self._session is not None or (self.worker is not None and self.worker.tasks):
            return
        while self._waiting:
            task = self._waiting[0]
            if task.done.done():
                self._waiting.popleft()  # nobody waits for it any more
                continue
            self.worker = self.worker or self._find()
            if self.worker is not None:
                self._session = self._waiting.popleft().session
                self._give(task, self.worker)
            return
        if self._give_back is not None and self.worker is not None:
            worker, self.worker = self.worker, None
            self._give_back(worker)
