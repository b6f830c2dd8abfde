"""Names to plug-ins: the targets and graders that a run needs, made ready and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from evalcase.errors import ConfigError
from evalcase.grade.apply import needs_expected
from evalcase.graders.expected import ExpectedGrader
from evalcase.model.case import Case
from evalcase.model.grader import NamedGrader
from evalcase.plugins.configure import configure
from evalcase.plugins.registry import find
from evalcase.project.config import Config
from evalcase.run.attempt import Target

Warn = Callable[[str], None]

_RUN_CODE = ("python", "command")
_RESERVED = ("root", "warn")


def runs_code(name: str) -> bool:
    """Whether a target that is named as `kind:value` would start a process or import code."""
    return name.partition(":")[0] in _RUN_CODE


def make_target(
    name: str, config: Config, warn: Warn, *, no_exec: bool = False, of_suite: bool = False
) -> Target:
    """The target of a name: one of the configuration, or `kind:value`.

    A name that only a suite gives (`of_suite`) may not carry an address: suites come from anyone.
    """
    options = config.targets.get(name)
    kind, _, value = name.partition(":")
    if options is not None:
        kind = options["kind"]
    elif not value and kind != "echo":
        known = ", ".join(config.targets) or "none"
        raise ConfigError(f"there is no target `{name}`; the configured ones are: {known}")
    if no_exec and kind in _RUN_CODE:
        raise ConfigError(f"target `{name}` would run code, and --no-exec forbids that")
    target_class = find("targets", kind)
    if options is not None:
        return _configured(name, target_class, options, config.root, warn)
    if of_suite and kind not in _RUN_CODE and _carries_address(target_class, value):
        raise ConfigError(
            f"target `{name}` of a suite carries an address, and only the configuration or the "
            f"command line may: add [targets.NAME] to evalcase.toml, and name that in the suite"
        )
    target: Target = target_class.from_value(value, root=config.root, warn=warn)
    return target


def _configured(
    name: str, target_class: Callable[..., Target], options: dict[str, Any], root: str, warn: Warn
) -> Target:
    rest = {key: item for key, item in options.items() if key not in ("kind", "concurrency")}
    _concurrency(name, options)
    for reserved in _RESERVED:
        if reserved in rest:
            raise ConfigError(f"target `{name}`: `{reserved}` is not an option")
    try:
        return target_class(**rest, root=root, warn=warn)
    except ConfigError as error:
        raise ConfigError(f"[targets.{name}]: {error}") from error


def _concurrency(name: str, options: dict[str, Any]) -> int | None:
    """How many trials of a target its configuration allows at once."""
    value = options.get("concurrency")
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"target `{name}`: `concurrency` is a whole number of 1 or more")
    return value


def bounds_of(name: str, target: Target, config: Config) -> list[int]:
    """What bounds the trials of a target that are under way at once: what is configured, and what
    the target says of itself."""
    configured = _concurrency(name, config.targets.get(name, {}))
    bounds = configured, getattr(target, "concurrency", None)
    return [bound for bound in bounds if bound is not None]


def _carries_address(target_class: object, value: str) -> bool:
    says: Callable[[str], bool] | None = getattr(target_class, "carries_address", None)
    return says(value) if says is not None else "://" in value


def key_names(config: Config, targets: Iterable[Target]) -> set[str]:
    """The environment variables whose values must not be written down."""
    names = {*config.secrets, *(str(each.get("key_env", "")) for each in config.targets.values())}
    for target in targets:
        names.update(getattr(target, "key_names", ()))
    return names - {""}


def graders_of(case: Case) -> Sequence[NamedGrader]:
    """The graders of a case, the built-in comparison added where nothing else compares."""
    specs = case.graders
    graders = _made(_to_json(specs)) if specs else ()
    return (*graders, _EXPECTED) if needs_expected(case, graders) else graders


@lru_cache(maxsize=256)
def _made(specs: str) -> tuple[NamedGrader, ...]:
    """Most cases of a suite have the same graders, and to make one is slower than to use it."""
    graders = []
    for spec in json.loads(specs):
        kind, _, value = str(spec["type"]).partition(":")
        options = {**spec, "type": kind, "value": value} if value else spec
        if kind == "python" and spec.get("name") is None:
            # There may be several, and a person wants to know which of them failed.
            options = {**options, "name": f"python:{options.get('value')}"}
        graders.append(configure(find("graders", kind), options))
    return tuple(graders)


_to_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_EXPECTED = NamedGrader("expected", ExpectedGrader())
