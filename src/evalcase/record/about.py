"""What `run.json` says: the fields of dataclasses, as the codec writes and reads them. It may come
from anyone, so all of it is held to its types, and a key that nobody knows is refused."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, field

from evalcase.model.target import TargetVersion
from evalcase.model.value import Value


class SelectedCases(Value, frozen=True):
    """How many cases of the suites were chosen for a run."""

    chosen: Annotated[int, Meta(ge=0)]
    total: Annotated[int, Meta(ge=0)]


class RunAbout(Value, frozen=True):
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
    trials: Annotated[int, Meta(ge=0)] | None = None
    """How many trials there were to be."""
    cases: Annotated[int, Meta(ge=0)] | None = None
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


class RunFile(Value, frozen=True):
    """All of `run.json`."""

    version: Annotated[int, Meta(ge=1)]
    id: str
    created_at: str
    about: RunAbout
    seal: str | None = None
