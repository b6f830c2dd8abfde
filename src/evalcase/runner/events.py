"""Who follows a run that a program asked for: told of results, and of nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from evalcase.types.result import Result, Trial


class Watcher(Protocol):
    """Is told what happens, in the thread of the event loop."""

    def resumed(self, finished: int) -> None: ...
    def started(self, trial: Trial) -> None: ...
    def finished(self, result: Result) -> None: ...


class Listener:
    """Passes results on to a function, where there is one."""

    def __init__(self, on_result: Callable[[Result], None] | None) -> None:
        self._on_result = on_result

    def resumed(self, finished: int) -> None:
        """Nobody asked."""

    def started(self, trial: Trial) -> None:
        """Nobody asked."""

    def finished(self, result: Result) -> None:
        if self._on_result is not None:
            self._on_result(result)


def log_warning(text: str) -> None:
    """Warnings of a run for the log."""
    from logging import getLogger

    getLogger("evalcase").warning(text)
