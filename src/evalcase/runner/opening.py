"""Targets set up before they are asked and torn down after the last question, whatever they do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from contextvars import Context, copy_context
from inspect import isawaitable
from types import TracebackType

from evalcase.errors import ConfigError, TargetError
from evalcase.types.target import Target
from evalcase.util.imports import place_of
from evalcase.util.user_calls import UserCalls

CLOSE_S = 5.0
"""How long tear-down may take."""


class OpenTargets:
    """The targets of a run, open while it is entered. Targets that only a grader's code names are
    made and opened when they are first asked for."""

    def __init__(
        self,
        targets: Mapping[str, Target],
        make: Callable[[str], Target],
        warn: Callable[[str], None],
        opened: Callable[[Target], None],
        calls: UserCalls,
        explain: Callable[[str, ConfigError], ConfigError] = lambda _, error: error,
    ) -> None:
        """`opened` is called with each that is open: some know only then what is secret. `explain`
        may say more of why a target of a name can't be opened."""
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
        self._one_at_a_time = asyncio.Lock()

    async def __aenter__(self) -> OpenTargets:
        """Raise ConfigError or TargetError if a target can't be opened."""
        try:
            await self.open_all(self._targets)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def open_all(self, targets: Mapping[str, Target]) -> None:
        """Open those that are not open yet. Raise ConfigError or TargetError if one can't be."""
        for name, target in targets.items():
            if name in self.by_name:
                continue
            try:
                await self._open(name, target)
            except ConfigError as error:
                raise self._explain(name, error) from error

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def find(self, name: str) -> Target:
        """The target of a name, opened if need be. Raise ConfigError or TargetError."""
        if name not in self.by_name:
            async with self._one_at_a_time:
                if name not in self.by_name:
                    await self._open(name, self._make(name))
        return self.by_name[name]

    async def _open(self, name: str, target: Target) -> None:
        life = _Lifetime(target, self.context)
        self._stack.push_async_callback(self._close, name, life)
        error = await life.open()
        if error is not None:
            raise _explain_error(error)
        self._opened(target)
        self.by_name[name] = target

    async def _close(self, name: str, life: _Lifetime) -> None:
        over, error = await life.close(CLOSE_S)
        if not over:
            assert life.task is not None
            self._calls.leave(life.task)
            said = f"took more than {CLOSE_S:g} s and was given up"
            self._warn(f"`{name}`: tear-down {said}")
        elif error is not None:  # the answers are safe already
            self._warn(f"`{name}`: tear-down failed: {error!r}{place_of(error)}")


class _Lifetime:
    """A target from `open` to `close`, in one task: many libraries want to be left in the task that
    entered them. It has no time limit before `close`, because a model may have to be loaded."""

    def __init__(self, target: Target, context: Context) -> None:
        self._target = target
        self._context = context
        self._over = asyncio.Event()
        self.task: asyncio.Task[BaseException | None] | None = None

    async def open(self) -> BaseException | None:
        """Set it up. What it raised is returned; it has to be closed all the same."""
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[BaseException | None] = loop.create_future()
        self.task = loop.create_task(self._live(opened), context=self._context)
        try:
            await asyncio.wait((opened, self.task), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            raise
        return opened.result() if opened.done() else asyncio.CancelledError("in set-up")

    async def close(self, limit_s: float) -> tuple[bool, BaseException | None]:
        """Tear it down: whether that is over, and what it raised."""
        if self.task is None:
            return True, None
        self._over.set()
        await asyncio.wait((self.task,), timeout=limit_s)
        is_cancelled = self.task.done() and self.task.cancelled()
        return (
            self.task.done(),
            self.task.result() if self.task.done() and not is_cancelled else None,
        )

    async def _live(self, opened: asyncio.Future[BaseException | None]) -> BaseException | None:
        opened.set_result(await _raised_by(self._target.open, "open"))
        await self._over.wait()
        return await _raised_by(self._target.close, "close")


async def _raised_by(method: Callable[[], object], name: str) -> BaseException | None:
    """What a method of a target raises, or that it is not async."""
    try:
        given = method()
        if not isawaitable(given):
            what = f"the method `{name}` of a Target must be async (`async def {name}`)"
            raise TargetError(what, kind="protocol")
        await given
    except BaseException as error:  # noqa: BLE001 - the boundary: user code may raise anything
        return error
    return None


def _explain_error(error: BaseException) -> BaseException:
    """Why a target doesn't open; Ctrl-C may have ended it while something was imported."""
    if isinstance(error, ConfigError | TargetError | KeyboardInterrupt):
        return error
    told = TargetError(f"a target could not be set up: {type(error).__name__}: {error}")
    told.__cause__ = error
    return told
