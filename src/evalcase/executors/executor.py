"""Workers as the executor of a run: calls of targets and graders become requests, and each target
is represented by a RemoteTarget. Limits, retries, budget, cache and record stay in the run.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from math import ceil
from typing import Any

from evalcase.config.config import EngineSettings, read_env_file
from evalcase.config.graders import is_ours
from evalcase.errors import ConfigError, TargetError
from evalcase.executors import protocol
from evalcase.executors.pool import Pool, Task, Worker
from evalcase.graders.base import Asker, Context, NamedGrader
from evalcase.runner.calls import Attempted
from evalcase.runner.dispatch import RemoteKey
from evalcase.runner.plan import Plan
from evalcase.types.answer import Answer, Failure
from evalcase.types.grade import Grade
from evalcase.types.target import Question, Target, Traits
from evalcase.types.value import JSON, replace
from evalcase.util.environment import monotonic
from evalcase.util.errors import to_user_code_error
from evalcase.util.user_calls import GRACE_S

CLOSE_WORKERS_S = 6.0
"""How long workers may take to tear down: a little more than their targets may."""
_USUAL = frozenset(
    "PATH HOME USER LOGNAME SHELL TERM TZ LANG LANGUAGE TMPDIR TEMP TMP VIRTUAL_ENV "
    "LD_LIBRARY_PATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE SYSTEMROOT NO_PROXY no_proxy "
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy".split()
)
_USUAL_PREFIXES = ("LC_", "PYTHON", "XDG_", "CUDA_", "NVIDIA_", "OMP_", "MKL_")


def make_setup(plan: Plan, settings: EngineSettings) -> protocol.Setup:
    """Raise ConfigError if a worker could not make the targets and graders of a plan."""
    for name, target in (*plan.targets.items(), *plan.users.items()):
        if name in plan.given_targets:
            kind = type(target).__name__
            raise ConfigError(
                f"target `{name}` is an object ({kind}) of this process, and workers make theirs "
                "by name: give it as `python:module:function`"
            )
    if plan.graders.given:
        raise ConfigError(
            "graders that are given as objects can't reach a worker: name them in the suite, as "
            "`python:module:function`"
        )
    options, config = plan.options, plan.config
    # Targets, users and judges are asked by workers, and code of graders may ask others.
    variables = {*settings.env, *plan.scrubber.names}
    if options.env_file is not None:
        variables.update(read_env_file(options.env_file))
    of_suites = [name for name in plan.targets if not options.targets and name != config.target]
    batched = {name for name, target in plan.targets.items() if target.traits.batching is not None}
    opened = [name for name in (*plan.targets, *plan.users, *plan.judges) if name not in batched]
    return protocol.Setup(
        config.root, plan.environment.cwd, options.no_exec, config.target,
        (*of_suites, *plan.users), tuple(opened), tuple(sorted(variables)),
        None if settings.memory_mb is None else settings.memory_mb * 1_000_000,
    )  # fmt: skip


def select_variables(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a worker: those that every program needs, and those that are named."""
    wanted = _USUAL.union(names)
    return {
        name: value
        for name, value in environment.items()
        if name in wanted or name.startswith(_USUAL_PREFIXES)
    }


class WorkerExecutor(ABC):
    """Workers that answer and grade. It is open while it is entered."""

    def __init__(self, settings: EngineSettings, plan: Plan) -> None:
        """Raise ConfigError if workers could not run the plan."""
        self._settings = settings
        self._setup = make_setup(plan, settings)
        self._variables = plan.environment.variables
        self._concurrency = plan.options.concurrency or plan.config.concurrency
        self.warn = plan.warn
        self._askers: dict[int, Asker] = {}
        """By the number of a request to grade: they ask for its graders."""
        self._asking: set[asyncio.Task[None]] = set()
        self._held: dict[tuple[str, int], tuple[Answer, Worker | None, int]] = {}
        """Answers that lost a secret on their way here, by session and turn, with the workers that
        have them as they were, and the numbers of their requests."""
        self._targets: dict[str, RemoteTarget] = {}
        self._stack = ExitStack()

    @abstractmethod
    def make_pool(self) -> AbstractContextManager[Pool]:
        """The pool, with what its workers need while it is entered. Raise ConfigError if that
        fails."""

    def _pool_of(self, first: int, most: int, make: Callable[[], Worker]) -> Pool:
        share = ceil(self._concurrency / most)
        return Pool((first, most), share, make, self._setup, self.listen, self.warn_lost)

    async def __aenter__(self) -> WorkerExecutor:
        self.pool = self._stack.enter_context(self.make_pool())
        self.pool.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._asking:
            task.cancel()
        with self._stack:
            await self.pool.close(CLOSE_WORKERS_S)

    def remote_target(self, name: str) -> Target:
        return self._targets.setdefault(name, RemoteTarget(name, self))

    async def request(self, body: protocol.Body, worker: Worker | None = None) -> Any:  # noqa: ANN401 - its reply
        """Raise ConfigError or TargetError if a worker refuses, or ends."""
        return await self._wait(self.pool.ask(Task(body), worker))

    async def attempt(self, name: str, question: Question, limit_s: float) -> Attempted:
        started = monotonic()
        session = question.session if self._targets[name].remembers else None
        task = self.pool.ask(Task(protocol.Ask(name, question, limit_s), session))
        try:
            attempt: protocol.Attempt = await self._wait(task, limit_s)
        except TargetError as error:
            return Attempted(None, error, monotonic() - started)
        if attempt.answer is not None and attempt.answer.scrubbed:
            if len(self._held) >= protocol.MOST_HELD:
                del self._held[next(iter(self._held))]
            held = attempt.answer, task.worker, task.request.number
            self._held[question.session, question.turn] = held
        return attempt.read(limit_s)

    def must_grade(self, answer: Answer, graders: Sequence[NamedGrader]) -> bool:
        return answer.scrubbed or not all(map(is_ours, graders))

    async def grade(
        self, context: Context, graders: Sequence[NamedGrader], limit_s: float
    ) -> tuple[Grade, ...]:
        question, answer = context.question, context.answer
        held = self._held.pop((question.session, question.turn), None)
        worker, number = held[1:] if held is not None and held[0] is answer else (None, None)
        body = protocol.GradeAnswer(
            context.case._data, question, answer, context.duration_s, context.turns,
            context.changes, number,
        )  # fmt: skip
        task = self.pool.ask(Task(body), worker)
        limits = [each.timeout_s or limit_s for each in graders if not is_ours(each)]
        assert context.asker is not None
        self._askers[task.request.number] = context.asker
        try:
            graded: protocol.Graded = await self._wait(task, max(limits, default=limit_s))
            return graded.grades
        except TargetError as error:
            why = str(error)
            return (Grade("worker", None, False, why, failure=Failure("grader", why)),)
        finally:
            del self._askers[task.request.number]

    async def _wait(self, task: Task, limit_s: float | None = None) -> Any:  # noqa: ANN401 - its reply
        """The worker applies the limit itself, unless its event loop is blocked."""
        try:
            while not task.done.done():
                timeout = None if limit_s is None else limit_s + GRACE_S
                await asyncio.wait([task.done], timeout=timeout)
                if not task.done.done() and task.worker is not None:
                    await self.pool.check(task.worker)
        except BaseException:
            self.pool.drop(task)
            raise
        body = task.done.result()
        if isinstance(body, protocol.Refused):
            raise (ConfigError if body.is_config else TargetError)(body.why)
        return body

    def listen(self, worker: Worker, message: protocol.AskJudge | protocol.Warned) -> None:
        if isinstance(message, protocol.Warned):
            self.warn(message.text)
        elif (asker := self._askers.get(message.grading)) is not None:
            asking = asyncio.ensure_future(self._ask_judge(worker, message, asker))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)

    def warn_lost(self, how: str) -> None:
        self.warn(f"a worker ended: {how}. What was under way there is done again, alone")

    async def _ask_judge(self, worker: Worker, message: protocol.AskJudge, asker: Asker) -> None:
        # Only the grader knows whether the answer is usable, so it may not be cached.
        usable = None if message.may_cache else lambda _: False
        try:
            answer = await asker(message.target, list(message.messages), message.schema, usable)
            told = protocol.Attempt(0.0, answer)
        except Exception as error:  # noqa: BLE001 - the grader gets it
            told = protocol.Attempt(0.0, error=to_user_code_error(error).facts)
        if not worker.is_lost:
            worker.send(protocol.Reply(message.number, told))


class RemoteTarget(Target):
    """A target that workers make. The executor calls it; the run only reads its traits."""

    def __init__(self, name: str, executor: WorkerExecutor) -> None:
        self.traits = Traits()
        self._opened = protocol.Opened(self.traits, {})
        self._name = name
        self._executor = executor
        self.remembers = False
        """Whether all questions of a session must go to the same worker."""

    async def open(self) -> None:
        self._opened = await self._executor.request(protocol.OpenTarget(self._name))
        traits = self._opened.traits
        self.remembers = traits.holds_sessions or not traits.stateless
        # The executor must hear of the end of each session whose worker it remembers.
        self.traits = replace(traits, holds_sessions=self.remembers)

    async def answer(self, question: Question) -> Answer:
        raise AssertionError(f"case {question.case} is answered by a worker")

    async def cache_key(self, question: Question) -> JSON:
        key: protocol.Key = await self._executor.request(protocol.FindKey(self._name, question))
        return RemoteKey(key.kind, key.key)  # type: ignore[return-value]

    async def end_session(self, session: str) -> None:
        worker = self._executor.pool.end_session(session)
        if worker is not None and self._opened.traits.holds_sessions:
            await self._executor.request(protocol.EndSession(self._name, session), worker)

    def sources(self) -> dict[str, str]:
        return self._opened.sources
