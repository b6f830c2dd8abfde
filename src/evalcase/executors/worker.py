"""The worker's side: it makes targets and graders by name, and replies to requests.

As a process, it is run by `python -m evalcase.executors.worker`: messages come as lines on standard
input, and replies go to what was its standard output. What user code prints goes to standard error.
It ends when its input ends, so that it never outlives the run. One that is blocked then is ended by
the guard of the run.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from io import TextIOWrapper
from itertools import count
from typing import BinaryIO

import psutil

from evalcase.config.config import read_config
from evalcase.config.targets import make_target
from evalcase.errors import ConfigError, EvalcaseError, TargetError
from evalcase.executors import protocol
from evalcase.graders.base import Context, Usable
from evalcase.runner.calls import CLOSE_S, OpenTargets, make_attempt
from evalcase.runner.dispatch import name_of_kind
from evalcase.runner.event_loop import run_async
from evalcase.runner.graders import Graders
from evalcase.runner.grading import grade_answer
from evalcase.runner.plan import make_scrubber, watch_keys
from evalcase.store.scrub import scrub_struct
from evalcase.types.answer import Answer
from evalcase.types.case import canonical_case
from evalcase.types.message import Message
from evalcase.types.target import Question, Surroundings, Target
from evalcase.types.value import JSON, replace
from evalcase.util.code import make_importable
from evalcase.util.environment import wall_time
from evalcase.util.errors import UserCodeError
from evalcase.util.user_calls import UserCalls

Send = Callable[[protocol.ToRun], None]
_NOT_AS_IT_WAS = (
    "a secret was taken out of the answer before it left its worker, which is gone, or holds only "
    "a part of the conversation: it can't be graded as it was (`--engine in-process` can)"
)
_LOOK_S = 0.2
_SEND_S = 1.0
"""How long a worker that ends itself waits until the run knows why."""
_OUT_OF_MEMORY = 137


class Service:
    """Replies to requests. It belongs to one event loop and to one run."""

    def __init__(self, setup: protocol.Setup, send: Send) -> None:
        self._setup = setup
        self._send = send
        config = read_config(setup.cwd, setup.cwd, setup.root)
        self._config = config = replace(config, target=setup.default_target)
        # Its warnings are about values, and contain none of them.
        self._scrubber = make_scrubber(config, os.environ, lambda text: send(protocol.Warned(text)))
        self._around = Surroundings(config.root, os.environ, self.warn, wall_time)
        self._graders = Graders((), self._around, config=config, no_exec=setup.no_exec)
        self._stack = AsyncExitStack()
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._asked: dict[int, asyncio.Future[protocol.ReplyBody]] = {}
        self._numbers = count(1)
        self._held: dict[int, Answer] = {}
        """Answers that lost a secret on their way to the run, by request: they are graded as they
        were."""

    def scrub(self, text: str) -> str:
        return self._scrubber.text(text)

    def warn(self, text: str) -> None:
        self._send(protocol.Warned(self.scrub(text)))

    async def open(self) -> None:
        if not self._setup.no_exec:
            make_importable(self._config.root)
        if self._setup.most_bytes is not None:
            threading.Thread(target=self._watch_memory, daemon=True).start()
        self._calls = await self._stack.enter_async_context(UserCalls())
        opened = partial(watch_keys, self._scrubber)
        self._targets = await self._stack.enter_async_context(
            OpenTargets({}, self._make, self.warn, opened, self._calls)
        )
        self._opening = asyncio.create_task(self._open_targets())

    async def close(self) -> None:
        """Cancel what is under way, and tear down."""
        self._opening.cancel()
        for task in self._under_way.values():
            task.cancel()
        outcome = await self._calls.run(self._graders.close, CLOSE_S, "close")
        if outcome.is_late or outcome.error is not None:
            self.warn("tear-down of the graders failed")
        await self._stack.aclose()

    async def _open_targets(self) -> None:
        for name in self._setup.opened:
            with suppress(EvalcaseError):  # requests for it are refused
                await self._targets.find(name)
        self._send(protocol.Ready())

    def _make(self, name: str) -> Target:
        setup = self._setup
        return make_target(
            name, self._config, self._around, no_exec=setup.no_exec,
            of_suite=name in setup.suite_targets,
        )  # fmt: skip

    def _watch_memory(self) -> None:
        most, this_process = self._setup.most_bytes or 0, psutil.Process()
        while this_process.memory_info().rss <= most:
            time.sleep(_LOOK_S)
        self._send(protocol.Ending(f"it took more than {most // 10**6} MB of memory"))
        time.sleep(_SEND_S)
        os._exit(_OUT_OF_MEMORY)

    # Requests.

    def receive(self, message: protocol.ToWorker) -> None:
        match message:
            case protocol.Request(number, protocol.Ping()):
                self._send(protocol.Reply(number, protocol.Done()))
            case protocol.Request(number, body):
                task = self._under_way[number] = asyncio.create_task(self._reply(number, body))
                task.add_done_callback(lambda _: self._under_way.pop(number, None))
            case protocol.Drop(number) if number in self._under_way:
                self._under_way[number].cancel()
            case protocol.Reply(number, replied) if number in self._asked:
                asked = self._asked.pop(number)
                if not asked.done():
                    asked.set_result(replied)

    async def _reply(self, number: int, body: protocol.Body) -> None:
        try:
            await asyncio.wait([self._opening])
            self._send(protocol.Reply(number, await self._do(number, body)))
        except asyncio.CancelledError:
            return  # it was dropped
        except BaseException as error:  # noqa: BLE001 - the run must hear of it
            is_ours = isinstance(error, EvalcaseError)
            why = str(error) if is_ours else f"{type(error).__name__}: {error}"
            refused = protocol.Refused(self.scrub(why), isinstance(error, ConfigError))
            self._send(protocol.Reply(number, refused))

    async def _do(self, number: int, body: protocol.Body) -> protocol.ReplyBody:
        if isinstance(body, protocol.GradeAnswer):
            return await self._grade(number, body)
        assert not isinstance(body, protocol.Ping)
        target = await self._targets.find(body.target)
        match body:
            case protocol.Ask():
                return await self._ask(number, body, target)
            case protocol.FindKey():
                key = target.cache_key(self._locate_files(body.question))
                described = await key if asyncio.iscoroutine(key) else key
                return protocol.Key(name_of_kind(target), described)  # type: ignore[arg-type]
            case protocol.EndSession():
                end = partial(target.end_session, body.session)
                outcome = await self._calls.run(end, CLOSE_S, body.session)
                if outcome.is_late or outcome.error is not None:
                    late = f"it took more than {CLOSE_S:g} s"
                    raise TargetError(late if outcome.is_late else str(outcome.error))
                return protocol.Done()
            case protocol.OpenTarget():
                sources = target.sources() if Target in type(target).__mro__ else {}
                traits = replace(target.traits, batching=None, seen=None, only_reads=False)
                return protocol.Opened(traits, dict(sources))

    async def _ask(self, number: int, body: protocol.Ask, target: Target) -> protocol.Attempt:
        question = self._locate_files(body.question)
        tried = await make_attempt(
            body.target, target, question, body.limit_s, self._calls, self.warn
        )
        attempt = scrub_struct(protocol.Attempt.of(tried), self._scrubber.look())
        if tried.answer is not None and attempt.answer is not None and attempt.answer.scrubbed:
            if len(self._held) >= protocol.MOST_HELD:
                del self._held[next(iter(self._held))]
            self._held[number] = tried.answer
        return attempt

    async def _grade(self, number: int, body: protocol.GradeAnswer) -> protocol.Graded:
        answer = body.answer
        if body.held is not None and body.held in self._held:
            answer = self._held.pop(body.held)
        elif answer.scrubbed:
            raise TargetError(_NOT_AS_IT_WAS)
        case = canonical_case(body.case)
        context = Context(
            case, self._locate_files(body.question), answer, asker=partial(self._ask_run, number),
            duration_s=body.duration_s, turns=body.turns, workspace=body.question.workspace,
            changes=body.changes,
        )  # fmt: skip
        graded = await grade_answer(
            context, self._graders.of(case), self._calls, self._config.grader_timeout_s
        )
        return scrub_struct(protocol.Graded(graded.grades), self._scrubber.look())

    def _locate_files(self, question: Question) -> Question:
        """The question with the paths that its files have here."""
        before, here = self._setup.shipped_from, self._config.root
        if not before or not question.files:
            return question
        files = {
            name: os.path.join(here, os.path.relpath(path, before))
            for name, path in question.files.items()
        }
        return replace(question, files=files)

    # Questions of graders.

    async def _ask_run(
        self, grading: int, target: str, messages: Sequence[Message], schema: JSON,
        usable: Usable | None,
    ) -> Answer:  # fmt: skip
        number = next(self._numbers)
        asked = self._asked[number] = asyncio.get_running_loop().create_future()
        self._send(
            protocol.AskJudge(grading, number, target, tuple(messages), schema, usable is None)
        )
        replied = await asked
        assert isinstance(replied, protocol.Attempt)
        if replied.error is not None:
            raise UserCodeError(replied.error)
        assert replied.answer is not None
        return replied.answer


class ScrubbedOutput(TextIOWrapper):
    """A stream that takes secrets out of what user code prints."""

    def __init__(self, buffer: BinaryIO, scrub: Callable[[str], str]) -> None:
        super().__init__(buffer, errors="backslashreplace", write_through=True)
        self._scrub = scrub

    def write(self, text: str) -> int:
        super().write(self._scrub(text))
        if "\n" in text:
            self.flush()
        return len(text)


def make_send(write: Callable[[bytes], object]) -> Send:
    """Sends messages by a function of this event loop. Any thread may send."""
    loop = asyncio.get_running_loop()

    def send(message: protocol.ToRun) -> None:
        loop.call_soon_threadsafe(write, protocol.write_message(message))

    return send


# The worker as a process.


async def serve(out: int) -> None:
    """Reply to the lines of standard input until it ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=sys.maxsize)
    stdin = os.fdopen(0, "rb", buffering=0)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
    pipe = os.fdopen(out, "wb", buffering=0)
    transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipe)
    setup = protocol.read_from_run(await reader.readline())
    assert isinstance(setup, protocol.Setup)
    service = Service(setup, make_send(transport.write))
    sys.stdout = sys.stderr = ScrubbedOutput(sys.stderr.buffer, service.scrub)
    await service.open()
    while line := await reader.readline():
        service.receive(protocol.read_from_run(line))
    await service.close()
    await asyncio.sleep(0)  # the last messages are sent


def serve_run() -> None:
    """Serve until the input ends; then end at once, whatever threads are left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    out = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        run_async(serve(out))
    finally:
        sys.stderr.flush()
        os._exit(0)


if __name__ == "__main__":
    serve_run()
