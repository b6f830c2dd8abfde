"""What scores rest on beside what cases say: files of graders, and the targets that they ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from evalcase.errors import ConfigError
from evalcase.model.grader import Grader, NamedGrader
from evalcase.model.target import Surroundings, Target, TargetVersion
from evalcase.plugins.target_versions import version_of
from evalcase.plugins.targets import make_target
from evalcase.project.config import Config
from evalcase.system.file_modules import sources_of_module


class GraderBasis:
    """Finds what graders of a run rest on. Each target and each module is looked at once, however
    many graders ask the one or are from the other. No target is opened for it."""

    def __init__(self, config: Config | None, around: Surroundings, *, no_exec: bool) -> None:
        self._config = config
        self._around = around
        self._no_exec = no_exec
        self._versions: dict[str, TargetVersion] = {}
        self._modules: dict[str, dict[str, str]] = {}

    def find(self, graders: Iterable[NamedGrader]) -> dict[str, str]:
        """All that graders rest on, by names for people, with the hash of each."""
        found: dict[str, str] = {}
        for named in graders:
            for each in _all_in(named):
                found |= self._sources_of(each)
                for name in each.asks():
                    version = self._version_of(name)
                    found[f"target `{name}`"] = f"{version.options} {version.code}".strip()
        return dict(sorted(found.items()))

    def print_of(self, named: NamedGrader) -> str:
        """The same of one grader, as a text that changes with it; empty if it rests on nothing."""
        own = [said for each in _all_in(named) if (said := each.fingerprint())]
        found = self.find([named])
        return sha256(repr((own, found)).encode()).hexdigest()[:16] if own or found else ""

    def _sources_of(self, grader: Grader) -> dict[str, str]:
        """Its files and those of its modules. One that a program brings along may have less than
        it should."""
        is_whole = Grader in type(grader).__mro__
        modules = (type(grader).__module__, *(grader.modules() if is_whole else ()))
        found: dict[str, str] = {}
        for module in modules:
            if module not in self._modules:
                self._modules[module] = sources_of_module(module)
            found |= self._modules[module]
        return {**found, **grader.sources()} if is_whole else found

    def _version_of(self, target: str) -> TargetVersion:
        """What a target is just now, as far as anybody can see."""
        if target not in self._versions:
            options = self._config.targets.get(target) if self._config is not None else None
            self._versions[target] = version_of(self._make(target), options)
        return self._versions[target]

    def _make(self, target: str) -> Target | None:
        if self._config is None:
            return None
        try:
            return make_target(target, self._config, self._around, no_exec=self._no_exec)
        except ConfigError:
            return None  # whoever asks it is told


def _all_in(named: NamedGrader) -> Iterator[Grader]:
    """A grader, and those that it is made of."""
    yield named.grader
    for each in named.grader.inner():
        yield from _all_in(each)
