"""What a run takes from the process it is in, all in one value, so that tests can give another."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, MutableMapping
from time import gmtime, strftime, time

from evalcase.model.value import Value
from evalcase.system.user_key import state_folder


class World(Value, frozen=True):
    cwd: str
    environment: MutableMapping[str, str]
    import_path: list[str]
    """The folders from which modules are imported."""
    now: Callable[[], float]
    """Seconds since 1970."""
    stamp: Callable[[], str]
    """The time as the record has it: UTC, ISO 8601, to the millisecond."""
    random: Callable[[], float]
    entropy: Callable[[int], bytes]
    """So many bytes that nobody can guess."""
    state: str | None
    """The folder of what evalcase keeps for this user; None if nobody says where their home is. It
    is known before a file of environment variables, or user code, can say otherwise."""


def this_world() -> World:
    """The world as it is now."""
    return World(
        os.getcwd(), os.environ, sys.path, time, Stamps().now, _draw_number, os.urandom,
        state_folder(os.environ),
    )  # fmt: skip


def _draw_number() -> float:
    from random import random

    return random()  # noqa: S311 - how long to wait before a retry is no secret


class Stamps:
    """Times as text. Within one second only the milliseconds are written anew."""

    def __init__(self, clock: Callable[[], float] = time) -> None:
        self._clock = clock
        self._second = self._millisecond = -1
        self._day = self._text = ""

    def now(self) -> str:
        millisecond = int(self._clock() * 1000)
        if millisecond == self._millisecond:
            return self._text
        second, rest = divmod(millisecond, 1000)
        if second != self._second:
            self._day = strftime("%Y-%m-%dT%H:%M:%S", gmtime(second))
            self._second = second
        self._millisecond, self._text = millisecond, f"{self._day}.{rest:03}+00:00"
        return self._text
