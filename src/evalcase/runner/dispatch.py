"""The dispatcher of all questions, whether a trial, a judge or a simulated user asks: rate limits,
back-off, retries, time limits, cache and budget."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from hashlib import sha256
from inspect import isawaitable
from itertools import count
from json import dumps
from typing import NamedTuple, Protocol

from evalcase.errors import TargetError
from evalcase.runner.attempt import Attempted, OverTimeError, make_attempt, take_own
from evalcase.runner.opening import CLOSE_S
from evalcase.runner.pacing import Budget, Limits, Pace, Paces, Start, wait_before_retry
from evalcase.types.answer import Answer, Earlier, Failure
from evalcase.types.grade import Grade, copy_question
from evalcase.types.grader import Context, NamedGrader, Usable
from evalcase.types.message import Message
from evalcase.types.question import Question
from evalcase.types.target import Target
from evalcase.types.value import JSON, replace
from evalcase.util.answers import find_block
from evalcase.util.errors import ToldError, failure_of
from evalcase.util.user_calls import UserCalls, waiting_in_queue

_USER = "/user"
_AGAIN = re.compile(rf"\.\d+(?=(?:{_USER})?\Z)")
_GRADERS = re.compile(r"/grader-\d+\Z")


def user_session(session: str) -> str:
    """The session in which the user of a conversation is played: never that of the target."""
    return f"{session}{_USER}"


def is_users(session: str) -> bool:
    return session.endswith(_USER)


def grader_session(session: str, number: int) -> str:
    """That of a question which a grader asks within a trial."""
    return f"{session}/grader-{number}"


def is_graders(session: str) -> bool:
    return _GRADERS.search(session) is not None


def trial_of_session(session: str) -> str:
    """What all sessions of a trial have in common, however often it was begun."""
    return _AGAIN.sub("", session)


class SessionLostError(TargetError):
    """Who held a session has ended. It is begun again, whatever is said of retries: nothing says
    that its target had any part in it."""


class KeyFromAfar(NamedTuple):
    """All that decides an answer, as a target elsewhere says, with the kind of that target."""

    kind: str
    described: JSON


class Workplace(Protocol):
    """Processes that answer, be they on this machine or on others. It is open while entered."""

    async def __aenter__(self) -> Workplace: ...
    async def __aexit__(self, *_: object) -> None: ...

    def stand_in(self, name: str) -> Target:
        """What tells of a target that is made there: its traits, once it is open."""
        ...

    async def attempt(self, name: str, question: Question, limit_s: float) -> Attempted:
        """Call a target once. Nothing that it does is raised."""
        ...

    def must_grade(self, answer: Answer, graders: Sequence[NamedGrader]) -> bool:
        """Whether an answer has to be graded there: code is called for it, or the answer that came
        here is not what was answered, since a secret was taken out of it."""
        ...

    async def grade(
        self, context: Context, graders: Sequence[NamedGrader], limit_s: float
    ) -> tuple[Grade, ...]:
        """The grades of an answer, in the order of the case's graders. What graders ask goes back
        through the asker of the context. The limit is for those that have none of their own."""
        ...


CACHE_VERSION = 3


def name_of_kind(target: Target) -> str:
    """What tells the keys of one kind of target from those of another."""
    return f"{type(target).__module__}.{type(target).__qualname__}"


async def make_answer_key(target: Target, question: Question) -> str:
    """The key. Whatever the target raises is raised."""
    asked = question if target.traits.only_reads else copy_question(question)
    described: object = target.cache_key(asked)
    if isawaitable(described):
        described = await described
    if isinstance(described, KeyFromAfar):
        kind, described = described
    else:
        kind = name_of_kind(target)
    data = [CACHE_VERSION, kind, described, question.repeat]
    return sha256(dumps(data, sort_keys=True).encode()).hexdigest()


_BATCHED = (
    "answers in batches, which a grader can't wait for: give it the same model without `batch`"
)


class Asked(NamedTuple):
    """What the last attempt came to."""

    answer: Answer | None
    failure: Failure | None
    attempts: int
    duration_s: float
    """Of the last attempt."""
    retried: tuple[Failure, ...] = ()
    """What the attempts before it came to."""
    interrupted: bool = False
    """Whether it was ended by Ctrl-C, so that nothing is known of it."""
    again_in_s: float | None = None
    """How long to wait until its conversation may be begun again; None if it may not."""


class Patience(Protocol):
    """Waits for a trial that has nothing under way, and may be told to stop doing so."""

    async def sleep(self, seconds: float) -> None: ...
    async def start(self, pace: Pace) -> Start: ...


class Store(Protocol):
    """Keeps answers by what decides them."""

    def find(self, key: str) -> Answer | None: ...
    def store(self, key: str, answer: Answer) -> None: ...


class Targets(Protocol):
    """The targets that can be asked."""

    by_name: dict[str, Target]

    async def find(self, name: str) -> Target:
        """One that may not be open yet. Raise ConfigError or TargetError."""
        ...


class Gate:
    """Asks targets, each at its own pace."""

    def __init__(  # noqa: PLR0913 - all that a question has to pass comes together here
        self,
        targets: Targets,
        limits: Limits,
        patience: Patience,
        budget: Budget,
        calls: UserCalls,
        random: Callable[[], float],
        *,
        warn: Callable[[str], None],
        store: Store | None = None,
        workplace: Workplace | None = None,
    ) -> None:
        """`workplace` is where targets answer, if that is not this process."""
        self._targets = targets
        self._limits = limits
        self._patience = patience
        self._budget = budget
        self._calls = calls
        self._random = random
        self._warn = warn
        self._store = store
        self._workplace = workplace
        self._paces = Paces(limits, warn)
        self._numbers = count(1)
        """Of what graders ask."""

    def ask(
        self, name: str, question: Question, timeout_s: float | None = None
    ) -> Coroutine[None, None, Asked]:
        """Ask a target, unless the answer is known already.

        Nothing that a target does is raised; but one that is to be opened first may not open.
        """
        target = self._targets.by_name.get(name)
        if target is not None and self._store is None:
            return self._ask(name, target, question, timeout_s, self._patience)
        return self._look_up(name, question, timeout_s, self._patience)

    async def ask_turn(
        self, name: str, question: Question, timeout_s: float | None, begun: int
    ) -> Asked:
        """One turn of a conversation that was begun so often. A stateless target is asked again as
        it always is. Any other is called once: what it remembers of a call that failed nobody
        knows, so that only the whole conversation can be had again."""
        target = await self._targets.find(name)
        if target.traits.stateless:
            return await self.ask(name, question, timeout_s)
        limit_s = self._limits.of_case(timeout_s)
        tried = await self._attempt(name, target, question, limit_s, self._patience)
        if tried.error is None:
            return Asked(tried.answer, None, 1, tried.duration_s)
        by_hand = _is_by_hand(tried.error)
        again_in_s = self._wait(tried.error, begun)
        return Asked(None, _failure_of_attempt(tried), 1, tried.duration_s, (), by_hand, again_in_s)

    @property
    def is_spent(self) -> bool:
        """Whether all has been spent that may be."""
        return self._budget.is_spent

    def rest(self, seconds: float) -> Awaitable[None]:
        """Wait within a trial until it may be begun again."""
        return self._patience.sleep(seconds)

    async def end_session(self, name: str, session: str) -> None:
        """Tell a target that a session is over, if it holds something for each."""
        target = self._targets.by_name[name]
        if not target.traits.holds_sessions:
            return
        outcome = await self._calls.run(partial(target.end_session, session), CLOSE_S, session)
        late = TimeoutError(f"took more than {CLOSE_S:g} s") if outcome.is_late else None
        error = late or outcome.error
        if error is not None:
            self._warn(f"`{name}`: tear-down of a session failed: {error!r}")

    async def _look_up(
        self, name: str, question: Question, timeout_s: float | None, patience: Patience,
        usable: Usable | None = None,
    ) -> Asked:  # fmt: skip
        target = await self._targets.find(name)
        if self._store is None or target.traits.caching != "keyed":
            return await self._ask(name, target, question, timeout_s, patience)
        key = await self._find_key(name, target, question)
        if key is None:
            return await self._ask(name, target, question, timeout_s, patience)
        known = self._store.find(key)
        if known is not None and (usable is None or usable(known)):
            earlier = known.earlier or Earlier(cost_usd=known.cost_usd)
            again = replace(known, cached=True, cost_usd=0.0, earlier=earlier)
            return Asked(again, None, 1, 0.0)
        asked = await self._ask(name, target, question, timeout_s, patience)
        if asked.answer is not None and _may_be_kept(asked.answer, usable):
            earlier = Earlier(round(asked.duration_s, 6), asked.answer.cost_usd)
            self._store.store(key, replace(asked.answer, earlier=earlier))
        return asked

    async def knows(self, name: str, question: Question) -> bool:
        """Whether the cache has the answer to a question."""
        target = self._targets.by_name[name]
        if self._store is None or target.traits.caching != "keyed":
            return False
        key = await self._find_key(name, target, question)
        return key is not None and self._store.find(key) is not None

    async def _find_key(self, name: str, target: Target, question: Question) -> str | None:
        """Under which the answer to a question is kept; None if it can't be."""
        try:
            return await make_answer_key(target, question)
        except (TargetError, OSError):
            return None  # a question that can't be asked has no key, either, and asking says why
        except Exception as error:  # noqa: BLE001 - a target may be anybody's
            why = f"{type(error).__name__}: {error}"
            self._warn(f"answers of `{name}` are not kept in the cache: its `cache_key`: {why}")
            return None

    async def ask_for_grader(
        self, name: str, messages: Sequence[Message], schema: JSON, usable: Usable | None,
        within: Question,
    ) -> Answer:  # fmt: skip
        """What a grader asks of a target. Raise TargetError if it has no answer.

        An answer of no use to it is not kept, and asked for again by the next run. The question has
        a session of its own, which is over with its answer.
        """
        session = grader_session(within.session, next(self._numbers))
        question = replace(
            within, messages=tuple(messages), schema=schema, files={}, attempt=1, session=session,
            hash="",
        )  # fmt: skip
        if (await self._targets.find(name)).traits.batching is not None:
            raise TargetError(f"`{name}` {_BATCHED}", kind="protocol")
        # The trial has its answer, which was paid for: it is not given up while a grader waits.
        try:
            asked = await self._look_up(name, question, None, _Steadfast(), usable)
        finally:
            await self.end_session(name, session)
        if asked.answer is not None:
            return asked.answer
        failure = asked.failure
        assert failure is not None
        raise TargetError(failure.message, kind=failure.kind, details=failure.details)

    async def _ask(
        self, name: str, target: Target, question: Question, timeout_s: float | None,
        patience: Patience,
    ) -> Asked:  # fmt: skip
        limit_s = self._limits.of_case(timeout_s)
        retried: tuple[Failure, ...] = ()
        while True:
            tried = await self._attempt(name, target, question, limit_s, patience)
            number = len(retried) + 1
            if tried.error is None:
                return Asked(tried.answer, None, number, tried.duration_s, retried, False, None)
            failure = _failure_of_attempt(tried)
            wait_s = self._wait(tried.error, number)
            if wait_s is None:
                by_hand = _is_by_hand(tried.error)
                return Asked(None, failure, number, tried.duration_s, retried, by_hand)
            retried = (*retried, failure)
            await patience.sleep(wait_s)
            question = replace(question, attempt=number + 1)

    async def _attempt(
        self, name: str, target: Target, question: Question, limit_s: float, patience: Patience
    ) -> Attempted:
        pace = self._paces.of(name, target)
        start = pace.begin_at_once() or await patience.start(pace)
        tried: Attempted | None = None
        is_away = self._workplace is not None and target.traits.batching is None
        try:
            if is_away:
                assert self._workplace is not None
                tried = await self._workplace.attempt(name, question, limit_s)
            else:
                tried = await make_attempt(target, question, limit_s, self._calls)
        finally:
            self._paces.end(name, start, tried)
        if tried.answer is not None and tried.answer.cost_usd is not None:
            self._budget.spend(tried.answer.cost_usd)
        return tried if is_away else take_own(tried, question, name, self._warn)

    def _wait(self, error: BaseException, number: int) -> float | None:
        limits = self._limits
        if isinstance(error, SessionLostError):
            return 0.0
        return wait_before_retry(error, number, limits.retries, limits.retry_timeouts, self._random)


def _may_be_kept(answer: Answer, usable: Usable | None) -> bool:
    """Whether an answer goes into the cache: one that was blocked has to be asked for again."""
    return find_block(answer) is None and (usable is None or usable(answer))


class _Steadfast:
    """Waits as long as it takes, also while no more trials are begun."""

    async def sleep(self, seconds: float) -> None:
        with waiting_in_queue():
            await asyncio.sleep(seconds)

    async def start(self, pace: Pace) -> Start:
        with waiting_in_queue():
            return await pace.begin()


def _failure_of_attempt(tried: Attempted) -> Failure:
    error = tried.error
    assert error is not None
    is_late = isinstance(error, OverTimeError)
    failure = Failure("timeout", str(error)) if is_late else failure_of(error)
    return replace(failure, details={**failure.details, **tried.seen}) if tried.seen else failure


def _is_by_hand(error: BaseException) -> bool:
    return isinstance(error, ToldError) and error.sort == "by hand"
