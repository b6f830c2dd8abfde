"""Names to targets: one of the configuration, or `kind:value`, with its options checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalcase.errors import ConfigError
from evalcase.model.option import made_of
from evalcase.model.target import MakeTarget, Surroundings, Target, TargetKind
from evalcase.plugins.registry import find_class, find_target_kind
from evalcase.plugins.target_names import (
    describe_fault,
    name_target,
    object_to_name,
    target_faults,
    values_as_json,
)
from evalcase.project.config import Config


def make_target(
    name: str, config: Config, surroundings: Surroundings, *, no_exec: bool = False,
    of_suite: bool = False,
) -> Target:  # fmt: skip
    """The target of a name. Raise ConfigError with everything that is wrong with it.

    A name that only a suite gives (`of_suite`) may not carry an address, nor a path that leads out
    of the project: suites come from anyone.
    """
    unfit = object_to_name(name, config, of_suite=of_suite)
    if unfit is not None:
        raise ConfigError(describe_fault(unfit.message, unfit.hint))
    named = name_target(name, config)
    kind = find_target_kind(named.kind)
    if no_exec and kind.runs_code:
        raise ConfigError(describe_forbidden_target(name))
    return build_target(
        find_class("targets", named.kind), kind, named.options(kind), surroundings, named.where
    )


def describe_forbidden_target(name: str) -> str:
    return f"target `{name}` would run code, and --no-exec forbids that"


def build_target(
    make: MakeTarget, kind: TargetKind, values: Mapping[str, object], surroundings: Surroundings,
    where: str = "",
) -> Target:  # fmt: skip
    """A target of some options. Raise ConfigError with everything that is wrong with them."""
    faults = list(target_faults(kind, values))
    if faults:
        raise ConfigError(
            where + "; ".join(describe_fault(each.message, each.hint) for each in faults)
        )
    return make(made_of(kind.options, values_as_json(values)), surroundings)


def bounds_of(name: str, target: Target, config: Config) -> list[int]:
    """What bounds the trials of a target that are under way at once: what is configured, and what
    the target says of itself."""
    bounds = config.targets.get(name, {}).get("concurrency"), target.traits.concurrency
    return [bound for bound in bounds if bound is not None]


def key_names(config: Config, targets: Iterable[Target]) -> set[str]:
    """The environment variables whose values must not be written down."""
    names = set(config.secrets)
    for options in config.targets.values():
        headers: object = options.get("header_env")
        named = [options.get("key_env"), *(headers.values() if isinstance(headers, dict) else ())]
        names.update(name for name in named if isinstance(name, str))
    for target in targets:
        names.update(target.traits.key_names)
    return names - {""}
