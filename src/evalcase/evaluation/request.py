"""What is said of a run, by a command, a program or a test: one value, of which a run is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalcase.config.options import LocalOptions, RunOptions
from evalcase.types.value import Value

if TYPE_CHECKING:
    from evalcase.config.config import Config
    from evalcase.evaluation.plan import Given
    from evalcase.runner.schedule import Watcher
    from evalcase.store.folder import Run
    from evalcase.types.result import Verdict
    from evalcase.types.target import Warn
    from evalcase.util.environment import Environment
    from evalcase.util.secrets import Scrubber


class RunRequest(Value, frozen=True):
    """A run as somebody asks for it. No suite has been read, and nothing made."""

    options: RunOptions
    config: Config
    environment: Environment
    folder: str
    """Where records are kept."""
    watcher: Watcher
    warn: Warn
    tell: Warn
    """Says what is good to know, and nothing to worry about."""
    scrubber: Scrubber
    given: Given | None = None
    """What a program has in place of names."""
    local: LocalOptions = LocalOptions()
    run: Run | None = None
    """What it goes on with; None begins a new run."""
    again: tuple[Verdict, ...] = ()
    """The verdicts of trials that are run again."""
