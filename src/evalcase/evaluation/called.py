"""What a program says of a run when it calls `evaluate`, as a request: names, and the functions
and objects that it passes in their place. The command needs none of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

from evalcase.config.config import Config, read_config, read_config_of
from evalcase.config.graders import read_grader
from evalcase.config.options import Keywords, read_keywords
from evalcase.errors import ConfigError
from evalcase.evaluation.failed_of import find_failed
from evalcase.evaluation.listener import Listener, log_warning
from evalcase.evaluation.plan import Given
from evalcase.evaluation.request import RunRequest
from evalcase.evaluation.secrets import make_scrubber
from evalcase.format.collection import hold_suites
from evalcase.graders.python import FunctionGrader
from evalcase.targets.code.useless import hint_at_answering
from evalcase.targets.python import PythonTarget
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.grader import Grader, NamedGrader, is_grader
from evalcase.types.suite import Suite
from evalcase.types.target import Surroundings, Target, is_target
from evalcase.types.value import replace
from evalcase.util.environment import Environment

GivenTarget: TypeAlias = str | Callable[..., Any] | Target
"""A target: its name, `kind:value`, a function, or an object that is one."""
GivenGrader: TypeAlias = Callable[..., Any] | Grader | NamedGrader | str | Mapping[str, Any]
"""A grader: a function, an object that is one, or as a file writes it."""
GivenGraders: TypeAlias = GivenGrader | Iterable[GivenGrader]
ReadGrader: TypeAlias = Callable[[str | Mapping[str, Any]], NamedGrader]
"""Makes a grader of what a file writes."""


def read_call(
    what: object, target: GivenTarget | Iterable[GivenTarget] | None, graders: GivenGraders,
    users: Mapping[str, GivenTarget], root: str | os.PathLike[str] | None, keywords: Keywords,
    environment: Environment,
) -> RunRequest:  # fmt: skip
    """The names that it says, and the suites, targets and graders that it has itself."""
    config = _read_config(root, environment.cwd)
    warn = keywords.get("on_warning", log_warning)
    scrubber = make_scrubber(config, environment.variables, warn)
    around = Surroundings(
        config.root, environment.variables, lambda text: warn(scrubber.text(text)), environment.now
    )
    targets = _name_targets(target, around)
    paths, suites = hold_suites(what)
    folder = config.find_runs(keywords.get("runs_dir"))
    origin = keywords.get("failed_of")
    failed_of = None if origin is None else find_failed(origin, folder, config.root)
    options, local = read_keywords(keywords, failed_of, environment.entropy)
    options = replace(options, paths=paths, targets=tuple(targets))
    read = partial(read_grader, config=config, no_exec=options.no_exec)
    given = Given(
        suites, {name: each for name, each in targets.items() if each is not None},
        name_graders(graders, read), users=_name_users(users, around),
    )  # fmt: skip
    listener = Listener(keywords.get("on_result"))
    return RunRequest(
        options, config, environment, folder, listener, warn, warn, scrubber, given, local
    )


def _read_config(root: str | os.PathLike[str] | None, cwd: str) -> Config:
    return read_config(cwd, cwd) if root is None else read_config_of(os.fspath(root), cwd)


def _name_targets(
    target: GivenTarget | Iterable[GivenTarget] | None, surroundings: Surroundings
) -> dict[str, Target | None]:
    """Targets by name; None for those that are only named, and made later."""
    if target is None:
        return {}
    is_one = isinstance(target, str | Mapping | Suite) or callable(target)
    several = isinstance(target, Iterable) and not is_one
    named: dict[str, Target | None] = {}
    for each in cast("Iterable[GivenTarget]", target if several else (target,)):
        name, made = _name_target(each, surroundings)
        # Two functions of the same name are two targets.
        named[_find_free_name(name, named) if made is not None else name] = made
    if not named:
        raise ConfigError("`target` is an empty list: without it, cases are asked of their own")
    return named


def _name_users(users: Mapping[str, GivenTarget], surroundings: Surroundings) -> dict[str, Target]:
    """Targets that play users, by the names that they are given."""
    made: dict[str, Target] = {}
    for name, each in users.items():
        _, target = _name_target(each, surroundings)
        if target is None:
            what = "a user is played by a function or a Target"
            raise ConfigError(f"{what}, not by a name: the case says `target: {each}`")
        made[name] = target
    return made


def _name_target(target: GivenTarget, surroundings: Surroundings) -> tuple[str, Target | None]:
    if isinstance(target, str):
        return target, None
    if is_target(target):
        return type(target).__name__, target
    if callable(target) or callable(getattr(target, "answer", None)):
        made = PythonTarget.of(target, surroundings)
        return f"python:{made.name}", made
    if isinstance(target, Suite | Case):
        hint = "evaluate(what, target) takes cases first, and the target second"
    elif isinstance(target, Mapping):
        hint = "options go in evalcase.toml, as [targets.NAME], and NAME is given"
    else:
        hint = hint_at_answering(target)
    raise ConfigError(f"a target is a name, a function or a Target, not {target!r:.80}: {hint}")


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
    if isinstance(grader, type):
        name = grader.__name__
        raise ConfigError(f"`{name}` is a class: a grader is an object of it, `{name}(…)`")
    if Grader in type(grader).__mro__:
        name = type(grader).__name__
        line = f'kind = GraderKind("{name.lower()}", "When it passes.")'
        raise ConfigError(f"the grader `{name}` has no `kind`: its class must say `{line}`")
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
