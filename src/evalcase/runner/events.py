"""What a run tells those who listen: terminal, JSON output, pytest plug-in, a program.

The record is no listener: the run awaits it before `TrialFinished`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from evalcase.report.evaluated import Evaluated
from evalcase.runner.event_loop import BlockingCall
from evalcase.store.folder import Run
from evalcase.types.result import Result, Trial


class RunStarted(Struct, frozen=True):
    """Targets and record are open."""

    run: Run
    finished: int
    """How many trials have a result already."""


class TrialStarted(Struct, frozen=True):
    trial: Trial


class TrialFinished(Struct, frozen=True):
    """The result is on disk."""

    result: Result


class RunWarning(Struct, frozen=True):
    text: str


class RunNote(Struct, frozen=True):
    """Something that is good to know, and no reason to worry."""

    text: str


class LoopBlocked(Struct, frozen=True):
    """User code blocks the event loop beyond its time limit, and nothing in Python can end it. This
    event comes from the thread of the watchdog."""

    run: Run
    call: BlockingCall


class RunFinished(Struct, frozen=True):
    evaluated: Evaluated


Event: TypeAlias = (
    RunStarted | TrialStarted | TrialFinished | RunWarning | RunNote | LoopBlocked | RunFinished
)
Emit: TypeAlias = Callable[[Event], None]
