"""What is said of a run, by a command, a program or a test: one value, of which a run is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalcase.model.value import Value

if TYPE_CHECKING:
    from evalcase.evaluation.plan import Given
    from evalcase.model.result import Verdict
    from evalcase.model.target import Warn
    from evalcase.project.config import Config
    from evalcase.project.options import RunOptions
    from evalcase.record.folder import Run
    from evalcase.run.schedule import Watcher
    from evalcase.system.world import World
    from evalcase.text.secrets import Scrubber


class AskedEngine(NamedTuple):
    """Where trials are to be answered. None leaves it to the configuration."""

    name: str | None = None
    processes: int | None = None
    on: str | None = None
    """The address of a cluster."""


class RunRequest(Value, frozen=True):
    """A run as somebody asks for it. No suite has been read, and nothing made."""

    options: RunOptions
    config: Config
    world: World
    folder: str
    """Where records are kept."""
    watcher: Watcher
    warn: Warn
    tell: Warn
    """Says what is good to know, and nothing to worry about."""
    scrubber: Scrubber
    given: Given | None = None
    """What a program has in place of names."""
    engine: AskedEngine = AskedEngine()
    run: Run | None = None
    """What it goes on with; None begins a new run."""
    again: tuple[Verdict, ...] = ()
    """The verdicts of trials that are run again."""
