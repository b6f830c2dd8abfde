"""The life of what a name of the user's leads to: made, entered, called, left.

All of it is the user's code, which may be async or not, and may fail in any way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from evalcase.errors import ConfigError
from evalcase.targets.code.parameters import is_async, takes_nothing
from evalcase.util.user_calls import run_in_thread

Leave: TypeAlias = Callable[[], Any]


class Entered(NamedTuple):
    """What answers, and how it is torn down."""

    found: Any
    leave: Leave | None


async def make_object(found: Any, arguments: Mapping[str, Any] | None, name: str) -> Any:  # noqa: ANN401 - an object of the user's
    """What a class or a factory makes; anything else is there already."""
    is_factory = inspect.isclass(found) or arguments is not None
    if not is_factory:
        is_factory = inspect.isroutine(found) and takes_nothing(found, name)
    if not is_factory:
        return found
    if not callable(found):
        raise ConfigError(f"python target: `{name}` takes no `arguments`: it is not a class")
    check_arguments(found, arguments or {}, name)
    made = found(**(arguments or {}))
    return await made if inspect.isawaitable(made) else made


def check_arguments(found: Callable[..., Any], arguments: Mapping[str, Any], name: str) -> None:
    """Raise ConfigError if a class or a factory can't be called with these."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return  # written in C: it says so itself
    try:
        signature.bind(**arguments)
    except TypeError as error:
        hint = "`arguments` of [targets.NAME] in evalcase.toml are its keyword arguments, and a "
        hint += "program can give one that is made already"
        raise ConfigError(f"python target `{name}`: it can't be made: {error}; {hint}") from None


async def enter_object(found: Any) -> Entered:  # noqa: ANN401 - an object of the user's
    """Set an object up: as a context manager, or by its method `open`."""
    if hasattr(found, "__aenter__"):
        entered = await found.__aenter__()
        leave = partial(found.__aexit__, None, None, None)
        return Entered(found if entered is None else entered, leave)
    if hasattr(found, "__enter__"):
        entered = found.__enter__()
        leave = partial(found.__exit__, None, None, None)
        return Entered(found if entered is None else entered, leave)
    is_object = not inspect.isroutine(found)
    if is_object and callable(getattr(found, "open", None)):
        opened = found.open()
        if inspect.isawaitable(opened):
            await opened
    has_close = is_object and callable(getattr(found, "close", None))
    return Entered(found, found.close if has_close else None)


async def leave_object(leave: Leave) -> None:
    """Tear an object down; in another thread, where that may block."""
    if is_async(leave):
        await leave()
    else:
        await run_in_thread(leave)
