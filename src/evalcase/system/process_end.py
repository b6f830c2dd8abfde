"""What would end this process from within, turned into an error of whoever calls it.

`os._exit` leaves no time to say what came of a run, and the exit code would be whatever it was
given; so would that of the program which `os.exec…` puts in the place of this one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import ModuleType

end_process = os._exit
"""The way out that is left to evalcase."""
_ENDING = ("_exit", "execv", "execve")
"""All other functions of `os` that replace a process call one of these."""


class ProcessEndError(BaseException):
    """Code of a target or a grader would have ended evalcase. No `except Exception` hides it."""


@contextmanager
def process_end_refused() -> Iterator[None]:
    """The same for a while, in a process that is somebody else's."""
    kept = [(module, name, getattr(module, name)) for module in _list_modules() for name in _ENDING]
    refuse_process_end()
    try:
        yield
    finally:
        for module, name, end in kept:
            setattr(module, name, end)


def refuse_process_end() -> None:
    """For as long as this process goes on, nobody ends it but who kept the functions for that
    before. A child that is forked from it may end as it likes."""
    owner = os.getpid()
    for module in _list_modules():
        for name in _ENDING:
            setattr(module, name, _make_refusing(getattr(module, name), owner))


def _list_modules() -> tuple[ModuleType, ModuleType]:
    return os, sys.modules[os.name]  # `posix` has them, too


def _make_refusing(end: Callable[..., object], owner: int) -> Callable[..., object]:
    @wraps(end)
    def refuse(*given: object, **named: object) -> object:
        if os.getpid() != owner:
            return end(*given, **named)
        first = ", ".join(map(repr, given[:1]))  # the last may be an environment
        raise ProcessEndError(
            f"os.{end.__name__}({first}) would end evalcase, and every other trial with it; code "
            "that does so can be run as a program"
        )

    return refuse
