"""Objects of the user's that are made once per session: each conversation has one to itself.

A class says so by a parameter `session` of its constructor, which is given the session; the
configuration by `per_session`. One is made when its session begins, and left when it is over.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from evalcase.targets.code.lifetime import Leave, check_arguments, enter_object, leave_object
from evalcase.targets.code.parameters import BoundFunction
from evalcase.util.user_calls import close_all, run_in_thread

SESSION = "session"


def asks_for_session(found: Any, arguments: Mapping[str, Any] | None) -> bool:  # noqa: ANN401 - an object of the user's
    """Whether a class is made once per session, by what its constructor takes."""
    return inspect.isclass(found) and SESSION not in (arguments or {}) and _takes_session(found)


def _takes_session(found: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return False  # written in C
    return SESSION in parameters


class Sessions:
    """Makes what answers in a session, and holds it until that is over."""

    def __init__(
        self, found: Callable[..., Any], arguments: Mapping[str, Any] | None, name: str,
        bind: Callable[[Any], BoundFunction],
    ) -> None:  # fmt: skip
        self._found = found
        self._arguments = dict(arguments or {})
        self._name = name
        self._bind = bind
        self._held: dict[str, tuple[BoundFunction, Leave | None]] = {}

    def check(self) -> None:
        """Raise ConfigError if none can be made."""
        check_arguments(self._found, self._arguments_for(""), self._name)

    async def find(self, session: str) -> BoundFunction:
        """What answers in a session, made if it is new. It may raise anything."""
        held = self._held.get(session)
        if held is None:
            make = partial(self._found, **self._arguments_for(session))
            made = await run_in_thread(make)
            if inspect.isawaitable(made):
                made = await made
            found, leave = await enter_object(made)
            held = self._held[session] = self._bind(found), leave
        return held[0]

    async def end(self, session: str) -> None:
        """Tear down what a session had."""
        _, leave = self._held.pop(session, (None, None))
        if leave is not None:
            await leave_object(leave)

    async def close(self) -> None:
        """The same for all that are left."""
        await close_all(partial(self.end, session) for session in self._held)

    def _arguments_for(self, session: str) -> dict[str, Any]:
        own = {SESSION: session} if _takes_session(self._found) else {}
        return {**own, **self._arguments}
