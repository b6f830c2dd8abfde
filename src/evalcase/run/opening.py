"""Targets set up before they are asked and torn down after the last question, whatever they do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from contextvars import copy_context
from types import TracebackType

from evalcase.errors import ConfigError, TargetError
from evalcase.model.target import Target
from evalcase.run.life import Life, TooSlowError
from evalcase.system.error_place import place_of
from evalcase.system.guests import Guests

CLOSE_S = 5.0
"""How long tear-down may take."""


class OpenTargets:
    """The targets of a run, open while it is entered. Those that code of a grader asks, of which
    nobody knows before, are made and opened when they are first asked for."""

    def __init__(
        self,
        targets: Mapping[str, Target],
        make: Callable[[str], Target],
        warn: Callable[[str], None],
        opened: Callable[[Target], None],
        guests: Guests,
        explain: Callable[[str, ConfigError], ConfigError] = lambda _, error: error,
    ) -> None:
        """`opened` is told of each that is open: some know only then what is secret. `explain` may
        say more of why one of a name can't be."""
        self.by_name: dict[str, Target] = {}
        self._targets = targets
        self._make = make
        self._warn = warn
        self._opened = opened
        self._guests = guests
        self._explain = explain
        self.context = copy_context()
        """What set-up has set, for whoever answers to see."""
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
        life = Life(target, self._guests, self.context)
        self._stack.push_async_callback(self._close, name, life)
        error = await life.open()
        if error is not None:
            raise _explain_error(error)
        self._opened(target)
        self.by_name[name] = target

    async def _close(self, name: str, life: Life) -> None:
        error = await life.close(CLOSE_S)
        if error is not None:  # the answers are safe already
            how = "failed: " if not isinstance(error, TooSlowError) else ""
            what = f"{how}{repr(error) if how else error}{place_of(error)}"
            self._warn(f"`{name}`: tear-down {what}")


def _explain_error(error: BaseException) -> BaseException:
    """Why a target doesn't open; a person may have ended it while something was imported."""
    if isinstance(error, ConfigError | TargetError | KeyboardInterrupt):
        return error
    told = TargetError(f"a target could not be set up: {type(error).__name__}: {error}")
    told.__cause__ = error
    return told
