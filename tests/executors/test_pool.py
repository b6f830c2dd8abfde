"""Which worker does what, and what a worker may write: the pool with workers that a test plays."""

import asyncio
import json

from evalcase.executors.pool import NO_MESSAGE, Pool, Task, Worker
from evalcase.executors.protocol import Ask, Setup, ToWorker
from evalcase.types.message import Message
from evalcase.types.target import Question
from tests.for_each import for_each

SETUP = Setup("/", "/", False, None, (), (), ())
READY = b'{"type": "ready"}'
LATE = {"type": "attempt", "took_s": 1}


class Scripted(Worker):
    """A worker that replies when the test says so."""

    async def start(self) -> None: ...

    async def close(self, grace_s: float) -> None:
        del grace_s

    def send(self, message: ToWorker) -> None: ...

    def end(self) -> None: ...

    def asked(self) -> list[str]:
        return [_text_of(task) for task in self.tasks.values()]

    def reply(self, body: object = LATE) -> None:
        """Reply to all requests."""
        for number in list(self.tasks):
            message = {"type": "reply", "number": number, "body": body}
            self.receive(json.dumps(message).encode())


def _text_of(task: Task) -> str:
    body = task.request.body
    return body.question.text if isinstance(body, Ask) else ""


class Played:
    """A pool, its workers, and how those were lost."""

    def __init__(self, size: int, share: int) -> None:
        self.workers: list[Scripted] = []
        self.lost: list[str] = []
        listen = lambda *_: None  # noqa: E731
        self.pool = Pool((size, size), share, self._make, SETUP, listen, self.lost.append)
        self.pool.open()
        for worker in self.workers:
            worker.receive(READY)

    def _make(self) -> Scripted:
        self.workers.append(Scripted())
        return self.workers[-1]

    def ask(self, text: str) -> Task:
        question = Question((Message(role="user", content=text),))
        return self.pool.ask(Task(Ask("t", question, 1.0)))


def test_no_task_is_given_up_while_workers_start() -> None:
    """Three are killed before they are ready, and then the one that has worked all the time."""

    async def play() -> None:
        played = Played(2, 1)
        working = played.workers[1]
        task, other = played.ask("task"), played.ask("other")
        for _ in range(4):
            next(each for each in played.workers if not each.is_lost and each is not working).lose(
                ""
            )
        working.lose("killed")
        for worker in played.workers:
            if not worker.is_lost:
                worker.receive(READY)
        for _ in range(2):
            for worker in played.workers:
                worker.reply()
        await asyncio.gather(task.done, other.done)

    asyncio.run(play())


def test_a_reply_to_no_request_is_ignored() -> None:
    async def play() -> None:
        played = Played(2, 1)
        first, second = played.workers
        dropped, other = played.ask("dropped"), played.ask("other")
        played.pool.drop(dropped)
        for worker, number in ((first, dropped.request.number), (second, 1)):
            reply = {"type": "reply", "number": number, "body": LATE}
            worker.receive(json.dumps(reply).encode())
        assert (played.lost, other.done.done()) == ([], False)
        second.reply()
        await other.done

    asyncio.run(play())


@for_each(
    "line",
    [
        b"nothing", b"[1]", b'{"type": "ask-judge", "number": 1}', b'{"type": "ending"}',
        b'{"type": "unknown"}', b'{"type": "reply", "number": "1", "body": {"type": "done"}}',
        b"[" * 50_000,
    ],
)  # fmt: skip
def test_a_worker_that_writes_no_message_is_ended_and_not_believed(line: bytes) -> None:
    async def play() -> list[str]:
        played = Played(1, 1)
        task = played.ask("x")
        (worker,) = played.workers
        worker.receive(line)
        worker.receive(
            json.dumps({"type": "reply", "number": task.request.number, "body": LATE}).encode()
        )
        assert not task.done.done()
        return played.lost

    (how,) = asyncio.run(play())
    assert how.startswith(NO_MESSAGE)
