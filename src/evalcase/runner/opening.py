"""Targets set up before they are asked and torn down after the last question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from contextvars import copy_context
from inspect import isawaitable
from types import TracebackType
from typing import TypeAlias

from evalcase.errors import ConfigError, TargetError
from evalcase.types.target import Target, Warn
from evalcase.util.imports import place_of
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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: _Raised, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

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
