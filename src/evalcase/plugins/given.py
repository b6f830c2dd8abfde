"""Targets and graders that a program gives as objects, to the same that names would make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

from evalcase.errors import ConfigError
from evalcase.graders.python import FunctionGrader
from evalcase.model.grader import Grader, GraderKind, NamedGrader
from evalcase.model.quick_dataclass import replace
from evalcase.model.target import Surroundings, Target, is_target
from evalcase.targets.python import PythonTarget

GivenTarget: TypeAlias = str | Callable[..., Any] | Target
"""A target: its name, `kind:value`, a function, or an object that is one."""
GivenGrader: TypeAlias = Callable[..., Any] | Grader | NamedGrader | str | Mapping[str, Any]
"""A grader: a function, an object that is one, or what a file would say of it."""
ReadGrader: TypeAlias = Callable[[str | Mapping[str, Any]], NamedGrader]
"""Makes a grader of what a file would say of it."""


def name_targets(
    target: GivenTarget | Iterable[GivenTarget] | None, surroundings: Surroundings
) -> dict[str, Target | None]:
    """Targets by name. Those that are only named are made later."""
    if target is None:
        return {}
    named: dict[str, Target | None] = {}
    several = isinstance(target, Iterable) and not isinstance(target, str) and not callable(target)
    for each in cast("Iterable[GivenTarget]", target if several else (target,)):
        name, made = _name_target(each, surroundings)
        # Two functions may have the same name, and are two targets all the same.
        named[_free(name, named) if made is not None else name] = made
    return named


def name_users(users: Mapping[str, GivenTarget], surroundings: Surroundings) -> dict[str, Target]:
    """Targets that play users, by the names that they are given."""
    made = {name: _name_target(each, surroundings)[1] for name, each in users.items()}
    for name, each in made.items():
        if each is None:
            what = "a user is played by a function or a Target"
            raise ConfigError(f"{what}, not by a name: the case says `target: {users[name]}`")
    return {name: each for name, each in made.items() if each is not None}


def _name_target(target: GivenTarget, surroundings: Surroundings) -> tuple[str, Target | None]:
    if isinstance(target, str):
        return target, None
    if is_target(target):
        return type(target).__name__, target
    if callable(target) or callable(getattr(target, "answer", None)):
        made = PythonTarget.of(target, surroundings)
        return f"python:{made.name}", made
    raise ConfigError(f"a target is a name, a function or a Target, not {target!r:.80}")


def name_graders(graders: Iterable[GivenGrader], read: ReadGrader) -> list[NamedGrader]:
    """Graders by name, for every case of a run."""
    if isinstance(graders, str | Mapping):
        raise ConfigError(f"`graders` is a list of graders, not {graders!r:.80}")
    named: dict[str, NamedGrader] = {}
    for each in graders:
        made = read(each) if isinstance(each, str | Mapping) else _name_grader(each)
        name = _free(made.name, named)
        named[name] = replace(made, name=name)
    return list(named.values())


def _name_grader(grader: Callable[..., Any] | Grader | NamedGrader) -> NamedGrader:
    if isinstance(grader, NamedGrader):
        return grader
    kind = getattr(grader, "kind", None)
    if isinstance(kind, GraderKind) and not isinstance(grader, type):
        return NamedGrader(kind.name, cast("Grader", grader))
    if callable(grader):
        made = FunctionGrader(grader)
        return NamedGrader(made.name, made)
    raise ConfigError(f"a grader is a function, a Grader, or as in a file, not {grader!r:.80}")


def _free(name: str, taken: Mapping[str, object]) -> str:
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name}-{count}"
    return free
