"""Graders made ready: code imported, programs looked for, files read. All that can't be is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from evalcase.errors import ConfigError
from evalcase.model.grader import NamedGrader
from evalcase.model.target import Surroundings

if TYPE_CHECKING:
    from evalcase.model.known import What


class Unloaded(NamedTuple):
    """A grader that can't be used, and why."""

    message: str
    what: What | None = None
    """What of it a suite mentions by a name, where that is at fault."""
    name: str = ""


class UnloadedError(ConfigError):
    """Some graders can't be used."""

    def __init__(self, faults: Sequence[Unloaded]) -> None:
        super().__init__("; ".join([each.message for each in faults]))
        self.faults = tuple(faults)


class CaseFault(NamedTuple):
    """A grader that can't be used, and the first case that asks for it."""

    suite: str
    case: str
    fault: Unloaded


def load_graders(graders: Sequence[NamedGrader], around: Surroundings, no_exec: bool) -> None:
    """Have graders ready. Raise UnloadedError with all that can't be."""
    faults: list[Unloaded] = []
    for named in graders:
        try:
            if no_exec:
                forbid_code(named)
            named.grader.load(around)
        except ConfigError as error:
            inner = list(_faults_inside(named, around)) if not no_exec else []
            faults += inner or [_tell_unloaded(named, str(error))]
    if faults:
        raise UnloadedError(faults)


def forbid_code(named: NamedGrader) -> None:
    """Raise ConfigError for a grader that would run code, or that has one inside."""
    for each in find_forbidden(named):
        raise ConfigError(each.message)


def find_forbidden(named: NamedGrader) -> Iterator[Unloaded]:
    """Each that would run code, be it inside of others."""
    if named.grader.kind.runs_code:
        message = f"grader `{named.name}` would run code, and --no-exec forbids that"
        yield _tell_unloaded(named, message)
    for each in named.grader.inner():
        yield from find_forbidden(each)


def _faults_inside(named: NamedGrader, around: Surroundings) -> Iterator[Unloaded]:
    """What is wrong with each of those inside of a grader: it stops at the first itself."""
    for each in named.grader.inner():
        try:
            each.grader.load(around)
        except ConfigError as error:
            yield from list(_faults_inside(each, around)) or [_tell_unloaded(each, str(error))]


def _tell_unloaded(named: NamedGrader, message: str) -> Unloaded:
    from evalcase.model.grader_options import declared_grader
    from evalcase.resolve.grader_mentions import find_named_code

    declared = declared_grader(type(named.grader))
    options = {name: getattr(named.grader, name) for name in (*declared.code, *declared.programs)}
    for what, name, _ in find_named_code(declared, options):
        return Unloaded(message, what, name)
    return Unloaded(message)
