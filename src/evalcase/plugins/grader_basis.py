"""What scores rest on beside what cases say: files of graders, and the targets that they ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from evalcase.errors import ConfigError
from evalcase.model.grader import Grader, NamedGrader
from evalcase.model.target import Surroundings, Target, TargetVersion
from evalcase.plugins.target_versions import version_of
from evalcase.plugins.targets import make_target
from evalcase.project.config import Config
from evalcase.system.file_modules import sources_of_module

FindVersion = Callable[[str], TargetVersion]
"""What a target of a name is just now."""


class AskedTargets:
    """The targets that graders ask, each looked at once. None of them is opened for it."""

    def __init__(self, config: Config | None, around: Surroundings, *, no_exec: bool) -> None:
        self._config = config
        self._around = around
        self._no_exec = no_exec
        self._known: dict[str, TargetVersion] = {}

    def find(self, name: str) -> TargetVersion:
        """What it is just now, as far as anybody can see."""
        if name not in self._known:
            options = self._config.targets.get(name) if self._config is not None else None
            self._known[name] = version_of(self._make(name), options)
        return self._known[name]

    def _make(self, name: str) -> Target | None:
        if self._config is None:
            return None
        try:
            return make_target(name, self._config, self._around, no_exec=self._no_exec)
        except ConfigError:
            return None  # whoever asks it is told


def basis_of(graders: Iterable[NamedGrader], find: FindVersion) -> dict[str, str]:
    """All that graders rest on, by names for people, with the hash of each."""
    found: dict[str, str] = {}
    for named in graders:
        for each in _all_in(named):
            found |= _sources_of(each)
            for name in each.asks():
                version = find(name)
                found[f"target `{name}`"] = f"{version.options} {version.code}".strip()
    return dict(sorted(found.items()))


def print_of(named: NamedGrader, find: FindVersion) -> str:
    """The same of one grader, as a text that changes with it; empty if it rests on nothing."""
    own = [said for each in _all_in(named) if (said := each.fingerprint())]
    basis = basis_of([named], find)
    return sha256(repr((own, basis)).encode()).hexdigest()[:16] if own or basis else ""


def _all_in(named: NamedGrader) -> Iterator[Grader]:
    """A grader, and those that it is made of."""
    yield named.grader
    for each in named.grader.inner():
        yield from _all_in(each)


def _sources_of(grader: Grader) -> dict[str, str]:
    """Its files, and those of its class, if that is no part of evalcase. One that a program brings
    along may have less than it should."""
    module = type(grader).__module__
    own = {} if module.partition(".")[0] == "evalcase" else sources_of_module(module)
    return {**own, **grader.sources()} if Grader in type(grader).__mro__ else own
