"""The dispatcher of all questions, whether a trial, a judge or a simulated user asks: rate limits,
back-off, retries, time limits, cache and budget."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from inspect import isawaitable
from itertools import count
from json import dumps
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from evalcase.errors import TargetError
from evalcase.graders.base import Context, NamedGrader, Usable
from evalcase.runner.calls import CLOSE_S, Attempted, OpenTargets, OverTimeError, make_attempt
from evalcase.runner.pacing import Budget, Limits, Pace, Rate, Rates, wait_before_retry
from evalcase.runner.schedule import Engine
from evalcase.types.answer import Answer, Earlier, Failure
from evalcase.types.grade import Grade
from evalcase.types.message import Message, copy_of
from evalcase.types.target import Question, Target
from evalcase.types.value import JSON, replace
from evalcase.types.workspace import WorkspaceError
from evalcase.util.answers import find_block
from evalcase.util.errors import UserCodeError, failure_of
from evalcase.util.user_calls import UserCalls, waiting_in_queue

if TYPE_CHECKING:
    from evalcase.runner.workspaces import Workspaces
    from evalcase.store.cache import AnswerCache

CACHE_VERSION = 3
_BATCHED = (
    "answers in batches, which a grader can't wait for: give it the same model without `batch`"
)


# Sessions. A trial has one, and another each time that it starts over. Its simulated user has one
# beside it, and each question of a grader is a session of its own.

_USER = "/user"
_AGAIN = re.compile(rf"\.\d+(?=(?:{_USER})?\Z)")
_GRADERS = re.compile(r"/grader-\d+\Z")


def user_session(session: str) -> str:
    return f"{session}{_USER}"


def is_users(session: str) -> bool:
    return session.endswith(_USER)


def is_graders(session: str) -> bool:
    return _GRADERS.search(session) is not None


def trial_of_session(session: str) -> str:
    """The part that all sessions of a trial have in common."""
    return _AGAIN.sub("", session)


# Targets in other processes


class SessionLostError(TargetError):
    """The process that held a session has ended. Its trial starts over, however many retries are
    allowed: nothing says that its target had any part in it."""


class RemoteKey(NamedTuple):
    """The cache key of a target in another process, with the kind of that target."""

    kind: str
    described: JSON


class Executor(Protocol):
    """Processes in which targets answer, on this machine or on others; open while entered. Rate
    limits, retries, budget, cache and record stay in this process."""

    async def __aenter__(self) -> Executor: ...
    async def __aexit__(self, *_: object) -> None: ...

    def remote_target(self, name: str) -> Target:
        """A target that has the traits of the one over there, once it is open."""
        ...

    async def attempt(self, name: str, question: Question, limit_s: float) -> Attempted:
        """Call a target once. Nothing that it does is raised."""
        ...

    def must_grade(self, answer: Answer, graders: Sequence[NamedGrader]) -> bool:
        """Whether an answer has to be graded there: a grader is user code, or the answer that came
        here has lost a secret."""
        ...

    async def grade(
        self, context: Context, graders: Sequence[NamedGrader], limit_s: float
    ) -> tuple[Grade, ...]:
        """The grades of an answer, in the order of the graders. Graders ask through the asker of
        the context. The limit is for graders that have none of their own."""
        ...


# Questions


class Asked(Struct, frozen=True):
    """What the last attempt came to."""

    answer: Answer | None
    failure: Failure | None
    attempts: int
    duration_s: float
    """Of the last attempt."""
    retried: tuple[Failure, ...] = ()
    """The failures of the attempts before it."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""
    again_in_s: float | None = None
    """How long to wait before its conversation starts over; None if it doesn't."""


@asynccontextmanager
async def _in_queue() -> AsyncIterator[None]:
    """For graders: their trial has its answer, so it is not ended when the engine stops."""
    with waiting_in_queue():
        yield


class Dispatcher:
    """Asks targets, each at its own pace."""

    def __init__(  # noqa: PLR0913 - all that a question has to pass comes together here
        self, targets: OpenTargets, limits: Limits, engine: Engine, budget: Budget,
        calls: UserCalls, random: Callable[[], float], *, warn: Callable[[str], None],
        cache: AnswerCache | None = None, executor: Executor | None = None,
        workspaces: Workspaces | None = None,
    ) -> None:  # fmt: skip
        self._targets = targets
        self._limits = limits
        self._engine = engine
        self._budget = budget
        self._calls = calls
        self._random = random
        self._warn = warn
        self._cache = cache
        self._executor = executor
        self._workspaces = workspaces
        self._paces: dict[str, Pace] = {}
        self._numbers = count(1)
        """Of the questions of graders."""
        self._spend(0.0)  # a resumed run may have spent its budget

    async def ask(
        self, name: str, question: Question, timeout_s: float | None = None,
        usable: Usable | None = None, *, for_grader: bool = False, begun: int | None = None,
    ) -> Asked:  # fmt: skip
        """Ask a target, unless the cache has the answer; again after errors that may not come
        again. Nothing that a target does is raised; but one that has to be opened first may fail
        to open.

        With `begun`, this is a turn of a conversation that was begun so often. Nothing says what a
        target with a memory remembers of a failed call, and what the call did to a workspace can't
        be undone: it is asked once, and the whole conversation may start over instead.
        """
        target = self._targets.by_name.get(name) or await self._targets.find(name)
        traits, limits = target.traits, self._limits
        is_whole = begun is None or (traits.stateless and question.workspace is None)
        key = None
        if self._cache is not None and is_whole:
            key = await self._find_key(name, target, question)
            if key is not None and (known := self._find_cached(key, usable)) is not None:
                return known
        pace = self._paces.get(name) or self._open_pace(name, target)
        aside = _in_queue if for_grader else self._engine.aside
        call = self._call if question.workspace is None else self._call_in_workspace
        limit_s = limits.of_case(timeout_s, traits)
        retried: tuple[Failure, ...] = ()
        number = 0
        while True:
            number += 1
            start = pace.begin_at_once()
            if start is None:
                async with aside():
                    start = await pace.begin()
            tried = None
            try:
                tried = await call(name, target, question, limit_s)
            finally:
                pace.end(start, tried)
            if tried.answer is not None and tried.answer.cost_usd:
                self._spend(tried.answer.cost_usd)
            if tried.error is None:
                if key is not None:
                    self._store(key, tried, usable)
                return Asked(tried.answer, None, number, tried.duration_s, retried)
            failure = _describe_failure(tried, tried.error)
            wait_s = self._find_wait(tried.error, number if is_whole else begun or 1)
            if wait_s is None or not is_whole:
                by_hand = (
                    isinstance(tried.error, UserCodeError) and tried.error.facts.sort == "by hand"
                )
                return Asked(None, failure, number, tried.duration_s, retried, by_hand, wait_s)
            retried = (*retried, failure)
            async with aside():
                await asyncio.sleep(wait_s)
            question = replace(question, attempt=number + 1)

    def _call(
        self, name: str, target: Target, question: Question, limit_s: float
    ) -> Awaitable[Attempted]:
        """Call a target once, where it answers. Batches are sent from this process."""
        if self._executor is not None and target.traits.batching is None:
            return self._executor.attempt(name, question, limit_s)
        return make_attempt(name, target, question, limit_s, self._calls, self._warn)

    async def _call_in_workspace(
        self, name: str, target: Target, question: Question, limit_s: float
    ) -> Attempted:
        """The same in a workspace that is made for it, unless an earlier turn did."""
        assert self._workspaces is not None
        assert question.workspace is not None
        if question.turn == 1:
            try:
                await self._workspaces.make(question.workspace)
            except WorkspaceError as error:
                return Attempted(None, error, 0.0)
        return await self._call(name, target, question, limit_s)

    async def ask_for_grader(
        self, name: str, messages: Sequence[Message], schema: JSON, usable: Usable | None,
        within: Question,
    ) -> Answer:  # fmt: skip
        """Ask a target for a grader. Raise TargetError if there is no answer. An answer that is not
        `usable` is not cached."""
        session = f"{within.session}/grader-{next(self._numbers)}"
        question = replace(
            within, messages=tuple(messages), schema=schema, files={}, attempt=1, session=session,
            hash="", workspace=None,
        )  # fmt: skip
        if (await self._targets.find(name)).traits.batching is not None:
            raise TargetError(f"`{name}` {_BATCHED}", kind="protocol")
        try:
            asked = await self.ask(name, question, None, usable, for_grader=True)
        finally:
            await self.end_session(name, session)
        if asked.answer is not None:
            return asked.answer
        failure = asked.failure
        assert failure is not None
        raise TargetError(failure.message, kind=failure.kind, details=failure.details)

    @property
    def is_spent(self) -> bool:
        return self._budget.is_spent

    async def rest(self, seconds: float) -> None:
        """Wait within a trial before it starts over."""
        await self._engine.sleep(seconds)

    def holds_sessions(self, name: str) -> bool:
        return self._targets.by_name[name].traits.holds_sessions

    async def end_session(self, name: str, session: str) -> None:
        """Tell a target that a session is over, if it holds something for each."""
        target = self._targets.by_name[name]
        if not target.traits.holds_sessions:
            return
        outcome = await self._calls.run(partial(target.end_session, session), CLOSE_S, session)
        late = TimeoutError(f"took more than {CLOSE_S:g} s") if outcome.is_late else None
        if (error := late or outcome.error) is not None:
            self._warn(f"`{name}`: tear-down of a session failed: {error}")

    # The cache

    async def is_cached(self, name: str, question: Question) -> bool:
        if self._cache is None:
            return False
        key = await self._find_key(name, self._targets.by_name[name], question)
        return key is not None and self._cache.find(key) is not None

    def _find_cached(self, key: str, usable: Usable | None) -> Asked | None:
        known = None if self._cache is None else self._cache.find(key)
        if known is None or (usable is not None and not usable(known)):
            return None
        earlier = known.earlier or Earlier(cost_usd=known.cost_usd)
        return Asked(replace(known, cached=True, cost_usd=0.0, earlier=earlier), None, 1, 0.0)

    def _store(self, key: str, tried: Attempted, usable: Usable | None) -> None:
        answer = tried.answer
        assert answer is not None
        assert self._cache is not None
        # A blocked answer has to be asked for again.
        if find_block(answer) is None and (usable is None or usable(answer)):
            earlier = Earlier(round(tried.duration_s, 6), answer.cost_usd)
            self._cache.store(key, replace(answer, earlier=earlier))

    async def _find_key(self, name: str, target: Target, question: Question) -> str | None:
        """The key of an answer in the cache; None if it isn't cached."""
        if question.workspace is not None:  # it is part of the answer
            return None
        if target.traits.caching != "keyed":
            return None
        try:
            return await make_answer_key(target, question)
        except (TargetError, OSError):
            return None  # to ask this question fails, too, and says why
        except Exception as error:  # noqa: BLE001 - a target is user code
            why = f"{type(error).__name__}: {error}"
            self._warn(f"answers of `{name}` are not kept in the cache: its `cache_key`: {why}")
            return None

    # Pace and budget

    def _open_pace(self, name: str, target: Target) -> Pace:
        traits, limits = target.traits, self._limits
        rate = limits.of_rate(name, Rate(traits.rpm, traits.tpm))
        said = f"answers of `{name}` come without token counts: `tpm` can't be enforced"
        pace = self._paces[name] = Pace(
            limits.of_pace(name, traits.concurrency), None if rate is None else Rates(rate),
            partial(self._warn, said),
        )  # fmt: skip
        return pace

    def _spend(self, cost_usd: float) -> None:
        self._budget.spent_usd += cost_usd
        if self._budget.is_spent:
            self._engine.stop(self._budget.reason)

    def _find_wait(self, error: BaseException, attempt: int) -> float | None:
        """Seconds until the next attempt; None if there is none."""
        if isinstance(error, SessionLostError):
            return 0.0
        limits = self._limits
        return wait_before_retry(
            error, attempt, limits.retries, limits.retry_timeouts, self._random
        )


def _describe_failure(tried: Attempted, error: BaseException) -> Failure:
    is_late = isinstance(error, OverTimeError)
    failure = Failure("timeout", str(error)) if is_late else failure_of(error)
    if tried.seen:
        failure = replace(failure, details={**failure.details, **tried.seen})
    return failure


def name_of_kind(target: Target) -> str:
    """Tells the cache keys of one kind of target from those of another."""
    return f"{type(target).__module__}.{type(target).__qualname__}"


async def make_answer_key(target: Target, question: Question) -> str:
    """The key of an answer in the cache, made of everything that decides it. Raise what the target
    raises."""
    asked = question if target.traits.only_reads else copy_of(question)
    described: object = target.cache_key(asked)
    if isawaitable(described):
        described = await described
    kind = name_of_kind(target)
    if isinstance(described, RemoteKey):
        kind, described = described
    data = [CACHE_VERSION, kind, described, question.repeat]
    return sha256(dumps(data, sort_keys=True).encode()).hexdigest()
