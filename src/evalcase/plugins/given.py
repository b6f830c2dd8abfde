"""Targets and graders that a program gives as objects, to the same that names would make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

from evalcase.errors import ConfigError
from evalcase.graders.python import FunctionGrader
from evalcase.model.case import Case
from evalcase.model.grade import Score
from evalcase.model.grader import Grader, NamedGrader, is_grader
from evalcase.model.suite import Suite
from evalcase.model.target import Surroundings, Target, is_target
from evalcase.model.value import replace
from evalcase.targets.code.useless import hint_at_answering
from evalcase.targets.python import PythonTarget

GivenTarget: TypeAlias = str | Callable[..., Any] | Target
"""A target: its name, `kind:value`, a function, or an object that is one."""
GivenGrader: TypeAlias = Callable[..., Any] | Grader | NamedGrader | str | Mapping[str, Any]
"""A grader: a function, an object that is one, or what a file would say of it."""
GivenGraders: TypeAlias = GivenGrader | Iterable[GivenGrader]
"""One of these, or several."""
ReadGrader: TypeAlias = Callable[[str | Mapping[str, Any]], NamedGrader]
"""Makes a grader of what a file would say of it."""


def name_targets(
    target: GivenTarget | Iterable[GivenTarget] | None, surroundings: Surroundings
) -> dict[str, Target | None]:
    """Targets by name. Those that are only named are made later."""
    if target is None:
        return {}
    named: dict[str, Target | None] = {}
    is_one = isinstance(target, str | Mapping | Suite) or callable(target)
    several = isinstance(target, Iterable) and not is_one
    for each in cast("Iterable[GivenTarget]", target if several else (target,)):
        name, made = _name_target(each, surroundings)
        # Two functions may have the same name, and are two targets all the same.
        named[_find_free_name(name, named) if made is not None else name] = made
    if not named:
        raise ConfigError("`target` is an empty list: without it, cases are asked of their own")
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
    if callable(target) or _has_answer(target):
        made = PythonTarget.of(target, surroundings)
        return f"python:{made.name}", made
    what = f"a target is a name, a function or a Target, not {target!r:.80}"
    raise ConfigError(f"{what}: {_hint_at_target(target)}")


def _hint_at_target(target: object) -> str:
    if isinstance(target, Suite | Case):
        return "evaluate(what, target) takes cases first, and the target second"
    if isinstance(target, Mapping):
        return "options go in evalcase.toml, as [targets.NAME], and NAME is given"
    return hint_at_answering(target)


def _has_answer(target: object) -> bool:
    """Whether it is an object of the user's own, with the method that is asked."""
    match target:
        case object(answer=Callable()):
            return True
        case _:
            return False


def name_graders(graders: GivenGraders, read: ReadGrader) -> list[NamedGrader]:
    """Graders by name, for every case of a run: several, or one."""
    several = isinstance(graders, Iterable) and not isinstance(graders, str | Mapping)
    named: dict[str, NamedGrader] = {}
    for each in cast("Iterable[GivenGrader]", graders if several else (graders,)):
        made = read(each) if isinstance(each, str | Mapping) else _name_grader(each)
        name = _find_free_name(made.name, named)
        named[name] = replace(made, name=name)
    return list(named.values())


def _name_grader(grader: Callable[..., Any] | Grader | NamedGrader) -> NamedGrader:
    if isinstance(grader, NamedGrader):
        return grader
    if is_grader(grader):
        return NamedGrader(grader.kind.name, grader)
    if Grader in type(grader).__mro__:
        name = type(grader).__name__
        line = f'kind = GraderKind("{name.lower()}", "When it passes.")'
        raise ConfigError(f"the grader `{name}` has no `kind`: its class must say `{line}`")
    if isinstance(grader, type) and Grader in grader.__mro__:
        name = grader.__name__
        raise ConfigError(f"`{name}` is a class of graders: `{name}(…)` makes one to give")
    if isinstance(grader, type):
        name = grader.__name__
        raise ConfigError(f"`{name}` is a class: a grader is a function, or an object to be called")
    if callable(grader):
        made = FunctionGrader(grader)
        return NamedGrader(made.name, made)
    what = f"a grader is a function, a Grader, or as in a file, not {grader!r:.80}"
    if isinstance(grader, bool | int | float | Score):
        raise ConfigError(f"{what}: pass the function itself, not what it returns")
    raise ConfigError(what)


def _find_free_name(name: str, taken: Mapping[str, object]) -> str:
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name}-{count}"
    return free
