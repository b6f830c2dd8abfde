"""A Python function, or an object with set-up and tear-down, as a target.

`function` names one of these:

- a function, sync or async, that takes the case (see `python_call`);
- an object with a method `answer`, or one that can be called itself;
- a class, or a function that takes nothing (a factory): it is called once per run, with
  `arguments` as keywords, and what it returns is one of the above. `arguments` makes a factory
  of any function.

Set-up and tear-down, once per run: an object that is a context manager, async or not, is entered
at the start and left at the end, and what entering it gives is what answers. Else its methods
`open` and `close` are called, where it has them. They run in the thread of the event loop, a sync
tear-down in another, so that it can't hold up the end.

Async functions share the event loop with all trials. Sync functions run in threads.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from evalcase.errors import ConfigError, TargetError
from evalcase.model.answer import Answer
from evalcase.model.trial import Trial
from evalcase.system.imports import import_object, make_importable, place_of
from evalcase.system.threads import Threads
from evalcase.targets import Warn, ignore
from evalcase.targets.fingerprint import asked, project_sources
from evalcase.targets.options import Options
from evalcase.targets.python_call import Call, bind, is_async, takes_nothing
from evalcase.targets.reading.answers import read_answer
from evalcase.targets.shown import hidden

_CLOSE_S = 5.0
"""How long tear-down may take."""


class PythonTarget:
    """Calls a function of the user's. Options: `function`, `arguments` (of a class or factory)."""

    def __init__(self, *, root: str = ".", warn: Warn = ignore, **options: object) -> None:
        read = Options("python", options)
        self.name = read.required_text("function", '"my_agent:answer"')
        self._arguments = read.mapping("arguments") if read.has("arguments") else None
        read.check_unknown()
        self._root = root
        self._warn = warn
        self._warned = False
        self._found: Any = None
        self._call: Call | None = None
        self._threads: Threads | None = None
        self._leave: Callable[..., Any] | None = None
        self._sources: dict[str, str] | None = None

    @classmethod
    def from_value(cls, value: str, *, root: str = ".", warn: Warn = ignore) -> PythonTarget:
        return cls(function=value, root=root, warn=warn)

    @classmethod
    def of(cls, function: object, *, root: str = ".", warn: Warn = ignore) -> PythonTarget:
        """The target of a function, class or object that is there already."""
        named: Any = function.func if isinstance(function, partial) else function
        if not hasattr(named, "__qualname__"):
            named = type(named)
        target = cls(function=f"{named.__module__}:{named.__qualname__}", root=root, warn=warn)
        target._found = function
        if not _is_at(function, target.name):
            # Another function of the same name may be another function: nothing tells them apart.
            target.cache_key = None  # type: ignore[method-assign,assignment]
        return target

    async def open(self) -> None:
        found = self._found
        if found is None:
            make_importable(self._root)
            found = import_object(self.name, "python target")
        self._threads = Threads("evalcase-call")
        try:
            found = await self._enter(await self._made(found))
        except (ConfigError, asyncio.CancelledError):
            raise
        except (Exception, SystemExit) as error:
            # Set-up is the user's code, and may fail in any way.
            what = f"{type(error).__name__}: {error}{place_of(error)}"
            raise TargetError(f"python target `{self.name}`: set-up failed: {what}") from error
        function = getattr(found, "answer", found)
        if not callable(function):
            what = f"is {type(found).__name__}, which can't be called"
            raise ConfigError(f"python target: `{self.name}` {what} and has no method `answer`")
        self._call = bind(function, self.name)

    async def _made(self, found: Any) -> Any:  # noqa: ANN401 - an object of the user's
        is_factory = inspect.isclass(found) or self._arguments is not None
        if not is_factory:
            is_factory = inspect.isroutine(found) and takes_nothing(found)
        if not is_factory:
            return found
        if not callable(found):
            raise ConfigError(f"python target: `{self.name}` takes no `arguments`: it is no class")
        made = found(**(self._arguments or {}))
        return await made if inspect.isawaitable(made) else made

    async def _enter(self, found: Any) -> Any:  # noqa: ANN401 - an object of the user's
        if hasattr(found, "__aenter__"):
            entered = await found.__aenter__()
            self._leave = partial(found.__aexit__, None, None, None)
            return found if entered is None else entered
        if hasattr(found, "__enter__"):
            entered = found.__enter__()
            self._leave = partial(found.__exit__, None, None, None)
            return found if entered is None else entered
        is_object = not inspect.isroutine(found)
        if is_object and callable(getattr(found, "open", None)):
            opened = found.open()
            if inspect.isawaitable(opened):
                await opened
        if is_object and callable(getattr(found, "close", None)):
            self._leave = found.close
        return found

    async def answer(self, trial: Trial) -> Answer:
        call, threads = self._call, self._threads
        assert call is not None, "open() comes first"
        assert threads is not None
        by_place, by_name, count = call.arguments(trial)
        if count > 1 and not self._warned and not call.sees_all:
            self._warn_of_hidden(trial)
        if call.is_async:
            returned = await _guarded(call.function(*by_place, **by_name))
        else:
            returned = await threads.call(partial(call.function, *by_place, **by_name))
            if inspect.isawaitable(returned):
                returned = await _guarded(returned)
        return read_answer(returned, self._warn)

    def cache_key(self, trial: Trial) -> dict[str, Any]:
        """What decides an answer: the function, the project's modules that it brought with it,
        and what it is given."""
        assert self._call is not None, "open() comes first"
        if self._sources is None:
            self._sources = project_sources(self._root)
        sees_case = any(slot.role == "case" for slot in self._call.slots)
        return {
            "function": self.name,
            "arguments": self._arguments,
            "sources": self._sources,
            "asked": asked(trial, whole=sees_case),
        }

    def _warn_of_hidden(self, trial: Trial) -> None:
        self._warned = True
        hint = "a parameter named `messages` or `case` would see all"
        self._warn(f"`{self.name}` sees the last user message only; {hidden(trial.case)}; {hint}")

    async def close(self) -> None:
        leave, self._leave = self._leave, None
        threads, self._threads = self._threads, None
        if threads is None:
            return
        try:
            if leave is not None:
                async with asyncio.timeout(_CLOSE_S):
                    await _leave(leave, threads)
        except TimeoutError:
            self._warn(f"`{self.name}`: tear-down took more than {_CLOSE_S:g} s and was given up")
        except Exception as error:  # noqa: BLE001 - the user's code; the answers are safe already
            self._warn(f"`{self.name}`: tear-down failed: {error!r}{place_of(error)}")
        finally:
            threads.close()


def _is_at(function: object, name: str) -> bool:
    """Whether a name leads to this very function."""
    module, _, path = name.partition(":")
    found: object = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is function


async def _leave(leave: Callable[..., Any], threads: Threads) -> None:
    if is_async(leave):
        await leave()
    else:
        await threads.call(leave)


async def _guarded(awaitable: Any) -> object:  # noqa: ANN401 - a coroutine of the user's
    """What it gives; but what would end the engine becomes an error of this trial."""
    try:
        result: object = await awaitable
    except (Exception, GeneratorExit):
        raise
    except BaseException as error:
        # Any of these would end the engine, and only a person may do that.
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        if isinstance(error, asyncio.CancelledError):
            raise RuntimeError("the function was cancelled from within") from error
        raise RuntimeError(f"{type(error).__name__}: {error}") from error
    return result
