"""Calls of targets: set-up, one attempt at an answer, tear-down. User code may do anything there;
the outcome is an answer that was checked, or an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from contextvars import copy_context
from functools import partial
from inspect import isawaitable
from types import CoroutineType
from typing import Any, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import astuple

from evalcase.errors import ConfigError, TargetError
from evalcase.types.answer import Answer
from evalcase.types.message import (
    Message,
    copy_of,
    fault_of_message,
    part_text,
    parts_of,
    take_message,
)
from evalcase.types.target import Question, Target, Warn
from evalcase.types.value import JSON, decode_object, encode_object, replace
from evalcase.util.answers import read_ending
from evalcase.util.code import place_of
from evalcase.util.errors import recordable_details
from evalcase.util.json import copy_json
from evalcase.util.user_calls import UserCalls

CLOSE_S = 5.0
"""How long tear-down may take."""
_Raised: TypeAlias = BaseException | None


class OpenTargets:
    """The targets of a run, open while it is entered. A target that only the code of a grader names
    is made and opened when it is first asked."""

    def __init__(
        self, targets: Mapping[str, Target], make: Callable[[str], Target], warn: Warn,
        opened: Callable[[Target], None], calls: UserCalls,
        explain: Callable[[str, ConfigError], ConfigError] = lambda _, error: error,
    ) -> None:  # fmt: skip
        """`opened` is called with each open target: some know only then which variables are secret.
        `explain` may say more of why a target of a name can't be opened."""
        self.by_name: dict[str, Target] = {}
        self._targets = targets
        self._make = make
        self._warn = warn
        self._opened = opened
        self._calls = calls
        self._explain = explain
        self.context = copy_context()
        """What set-up has set, for the calls of targets and graders."""
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> OpenTargets:
        """Raise ConfigError or TargetError if a target can't be opened."""
        try:
            await self.open_all(self._targets)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def open_all(self, targets: Mapping[str, Target]) -> None:
        """Open those that are not open yet. Raise ConfigError or TargetError if one can't be."""
        for name, target in targets.items():
            if name not in self.by_name:
                try:
                    await self._open(name, target)
                except ConfigError as error:
                    raise self._explain(name, error) from error

    async def find(self, name: str) -> Target:
        """The target of a name, opened if need be. Raise ConfigError or TargetError."""
        if name not in self.by_name:
            async with self._lock:
                if name not in self.by_name:
                    await self._open(name, self._make(name))
        return self.by_name[name]

    async def _open(self, name: str, target: Target) -> None:
        """Set a target up, in the task that will tear it down: many libraries want that. It has no
        time limit, because a model may have to be loaded."""
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[_Raised] = loop.create_future()
        closing = asyncio.Event()
        task = loop.create_task(_live(target, opened, closing), context=self.context)
        self._stack.push_async_callback(self._close, name, task, closing)
        try:
            await asyncio.wait((opened, task), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        error = opened.result() if opened.done() else asyncio.CancelledError("in set-up")
        if isinstance(error, ConfigError | TargetError | KeyboardInterrupt):
            raise error  # Ctrl-C may have ended an import
        if error is not None:
            what = f"{type(error).__name__}: {error}"
            raise TargetError(f"a target could not be set up: {what}") from error
        self._opened(target)
        self.by_name[name] = target

    async def _close(self, name: str, task: asyncio.Task[_Raised], closing: asyncio.Event) -> None:
        closing.set()
        await asyncio.wait((task,), timeout=CLOSE_S)
        if not task.done():
            self._calls.leave(task)
            self._warn(f"`{name}`: tear-down took more than {CLOSE_S:g} s and was given up")
        elif not task.cancelled() and (error := task.result()) is not None:
            self._warn(f"`{name}`: tear-down failed: {error!r}{place_of(error)}")


async def _live(target: Target, opened: asyncio.Future[_Raised], closing: asyncio.Event) -> _Raised:
    """A target from `open` to `close`. What these raise is returned."""
    opened.set_result(await _raised_by(target.open, "open"))
    await closing.wait()
    return await _raised_by(target.close, "close")


async def _raised_by(method: Callable[[], object], name: str) -> _Raised:
    try:
        given = method()
        if not isawaitable(given):
            what = f"the method `{name}` of a Target must be async (`async def {name}`)"
            raise TargetError(what, kind="protocol")
        await given
    except BaseException as error:  # noqa: BLE001 - the boundary: user code may raise anything
        return error
    return None


# One attempt

_NOTHING_ELSE = astuple(Answer(()))[1:]
"""The fields of an answer that has messages and nothing else."""
_MORE_TIME = "`timeout_s` of the case, or --timeout, allows more"
_SET_UP = ("system", "developer")
"""Roles of messages that an agent may add, or leave out, before all others."""


class OverTimeError(TimeoutError):
    """An attempt was not done when its time was over."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"no answer within {limit_s:g} s ({_MORE_TIME})")


class Attempted(Struct, frozen=True):
    answer: Answer | None
    error: BaseException | None
    duration_s: float
    seen: Mapping[str, JSON] | None = None
    """What is known of a failed call beside its error."""


async def make_attempt(
    name: str, target: Target, question: Question, limit_s: float, calls: UserCalls, warn: Warn
) -> Attempted:
    traits = target.traits
    if not traits.only_reads:
        question = copy_of(question)
    elif traits.seen is not None:
        question = replace(question)  # the object by which this call is known
    outcome = await calls.run(partial(_ask, target, question), limit_s, question.case)
    # A late call may have returned or raised anything once it was cancelled.
    error = OverTimeError(limit_s) if outcome.is_late else outcome.error
    if error is None:
        answer = outcome.value
        assert isinstance(answer, Answer)
        try:
            return Attempted(_take_own(answer, question, name, warn), None, outcome.took_s)
        except TargetError as refused:
            error = refused
    seen = None
    if traits.seen is not None:
        with suppress(Exception):  # it is user code, and the outcome of the call is there
            seen = recordable_details(dict(traits.seen(question)))
    return Attempted(None, error, outcome.took_s, seen)


async def _ask(target: Target, question: Question) -> Answer:
    given: object = target.answer(question)
    if type(given) is not CoroutineType and not isawaitable(given):
        what = "the method `answer` of a Target must be async (`async def answer`)"
        why = f"{what}: it returned {type(given).__name__}, which can't be awaited"
        raise TargetError(why, kind="protocol")
    is_ours = type(target).__module__.startswith("evalcase.targets.")
    return _check_answer(await given, is_ours=is_ours)


def _check_answer(answer: object, *, is_ours: bool) -> Answer:
    """The answer of plain values that can be graded and recorded. Raise TargetError if it is none:
    user code can build an Answer that holds anything. Targets of ours make messages of JSON."""
    if not isinstance(answer, Answer):
        what = f"the target returned {type(answer).__name__}, not an Answer"
        raise TargetError(what, kind="protocol")
    try:
        for message in answer.messages:
            _check_message(message)
        if is_ours and astuple(answer)[1:] == _NOTHING_ELSE:
            return answer  # other fields may come from user code
        if answer.last_at != 0:
            raise ValueError(f"`last_at` is {answer.last_at!r:.60}, which is for evalcase to say")
        copied = cast("list[dict[str, Any]]", copy_json([*answer.messages]))
        messages = tuple(map(take_message, copied))
        checked = replace(answer, messages=messages, steps=copy_of(answer.steps))
        if checked != Answer(messages):
            decode_object(Answer, encode_object(checked))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise TargetError(f"the target returned a wrong Answer: {error}", kind="protocol") from None
    return checked


def _check_message(message: Message) -> None:
    fault = fault_of_message(message)
    if fault is not None:
        raise ValueError(f"`messages` are wrong: one {fault}")
    if message["role"] == "assistant":
        content = message.get("content")
        for part in () if isinstance(content, str) else parts_of(content):
            if part["type"] in ("text", "output_text") and part_text(part) is None:
                raise ValueError("`messages` are wrong: one has a text part without a text")


def _take_own(answer: Answer, question: Question, name: str, warn: Warn) -> Answer:
    """The part of an answer that the target said itself: many an agent returns its whole
    conversation. Raise TargetError if there is none, or if it is not finished."""
    messages = answer.messages
    if len(messages) != 1 or messages[0]["role"] != "assistant":
        given = _count_repeated(messages, question.messages)
        if given == len(messages) > 0:
            what = "the target returned messages that it was given, and nothing after them"
            raise TargetError(what, kind="protocol")
        if given:
            answer = replace(answer, messages=messages[given:])
            left_out = "these are no part of an answer, and are left out"
            warn(f"answers of `{name}` begin with messages that it was given: {left_out}")
        elif len(messages) > 1 and any(each.role == "user" for each in messages):
            counted = "all that it returned counts as its answer"
            warn(f"answers of `{name}` have messages of a user that it was not given: {counted}")
    end = read_ending(answer)
    if end.reason is None:
        return answer
    kind = end.kind
    if kind in ("unfinished", "failed"):
        said = f"the target's reply is {kind} (finish reason `{end.reason}`)"
        raise TargetError(said, kind="protocol", details={"text": answer.text[:1000]})
    if kind == "cut off":
        graded = "they are graded as far as they go"
        warn(f"answers of `{name}` were cut off (finish reason `{end.reason}`): {graded}")
    return answer


def _count_repeated(said: Sequence[Message], asked: Sequence[Message]) -> int:
    """How many messages come before the answer: all that was asked, or as much of its end as the
    agent remembers."""
    places = [place for place, each in enumerate(said) if each.role not in _SET_UP]
    asked = [each for each in asked if each.role not in _SET_UP]
    for start in range(max(0, len(asked) - len(places)), len(asked)):
        rest = asked[start:]
        if all(each.role == "assistant" for each in rest):
            return 0  # an agent may say again what was said before
        if all(map(_is_same_message, [said[place] for place in places], rest)):
            return places[len(rest) - 1] + 1
    return 0


def _is_same_message(one: Message, other: Message) -> bool:
    calls = [[(call.name, call.arguments) for call in each.tool_calls] for each in (one, other)]
    if one.role != other.role or calls[0] != calls[1]:
        return False
    if (one.content or "") == (other.content or ""):
        return True
    return None not in (one.text, other.text) and str(one.text).split() == str(other.text).split()
