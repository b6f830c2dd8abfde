"""What `run.json` says: the fields of dataclasses, as the codec writes and reads them. It may come
from anyone, so all of it is held to its types, and a key that nobody knows is refused."""

from __future__ import annotations

from typing import Any

from evalcase.model.field_marks import COUNT, NOT_NEGATIVE
from evalcase.model.quick_dataclass import dataclass, field
from evalcase.model.target import TargetVersion


@dataclass(frozen=True, slots=True)
class SelectedCases:
    """How many cases of the suites were chosen for a run."""

    chosen: int = field(metadata=NOT_NEGATIVE)
    total: int = field(metadata=NOT_NEGATIVE)


@dataclass(frozen=True, slots=True)
class RunAbout:
    """What was run. All of it is a name, a path, a number or a hash, and none is a secret."""

    options: dict[str, Any]
    """What was asked for: `project.options` knows its fields, and is as strict."""
    evalcase: str = ""
    python: str = ""
    prices: str | None = None
    """The versions that it was run with."""
    suites: dict[str, str] = field(default_factory=dict)
    """The hash of each, by its path."""
    targets: tuple[str, ...] = ()
    target_versions: dict[str, TargetVersion] = field(default_factory=dict)
    """What each target was when the run was begun."""
    default_target: str | None = None
    """The one that the configuration named then."""
    trials: int | None = field(default=None, metadata=NOT_NEGATIVE)
    """How many trials there were to be."""
    cases: int | None = field(default=None, metadata=NOT_NEGATIVE)
    """The same for cases, each once for each of its targets."""
    selected: SelectedCases | None = None
    """Which part of the cases it is of; None where it is of all."""
    failed_of: str | None = None
    """The run whose cases that did not pass are what this one is of."""
    cwd: str = "."
    """Where it was begun, as seen from the project's folder: its suites were named there."""
    dealt: str | None = None
    """Which cases there were to deal to shards."""
    rests_on: dict[str, str] | None = None
    """What graders are made of, and whom they ask, with the hash of each; None where they rest on
    nothing."""
    merged: tuple[str, ...] = ()
    """The shards that it was put together of."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """All of `run.json`."""

    version: int = field(metadata=COUNT)
    id: str
    created_at: str
    about: RunAbout
    seal: str | None = None
