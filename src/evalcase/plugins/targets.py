"""Names to targets: one of the configuration, or `kind:value`, with its options checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from evalcase.errors import ConfigError
from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.option import faults_of, made_of
from evalcase.model.shape import OptionFault
from evalcase.model.target import MakeTarget, Surroundings, Target, TargetKind, Warn
from evalcase.plugins.registry import find_class, find_target_kind
from evalcase.project.config import Config
from evalcase.system.project_root import leads_inside
from evalcase.text.plain_json import NotJsonError, copy_json


def runs_code(name: str) -> bool:
    """Whether a target that is named as `kind:value` would start a process or import code."""
    return find_target_kind(name.partition(":")[0]).runs_code


def make_target(
    name: str, config: Config, warn: Warn, environment: Mapping[str, str], *,
    no_exec: bool = False, of_suite: bool = False,
) -> Target:  # fmt: skip
    """The target of a name. Raise ConfigError with everything that is wrong with it.

    A name that only a suite gives (`of_suite`) may not carry an address, nor a path that leads out
    of the project: suites come from anyone.
    """
    surroundings = Surroundings(config.root, environment, warn)
    options: Mapping[str, object] | None = config.targets.get(name)
    if options is not None:
        word, where = str(options["kind"]), f"[targets.{name}]: "
        kind = find_target_kind(word)
    else:
        word, where = name.partition(":")[0], f"target `{name}`: "
        kind, value = _split_name(name, config)
        if of_suite:
            _check_reach(name, kind, value, config.root)
        options = read_value(kind, value)
    if no_exec and kind.runs_code:
        raise ConfigError(f"target `{name}` would run code, and --no-exec forbids that")
    return build_target(find_class("targets", word), kind, options, surroundings, where)


def build_target(
    make: MakeTarget, kind: TargetKind, values: Mapping[str, object], surroundings: Surroundings,
    where: str = "",
) -> Target:  # fmt: skip
    """A target of some options. Raise ConfigError with everything that is wrong with them."""
    faults = list(target_faults(kind, values))
    if faults:
        raise ConfigError(where + "; ".join(map(_describe, faults)))
    return make(made_of(kind.options, _as_json(values)), surroundings)


def target_faults(
    kind: TargetKind, values: Mapping[str, object], path: KeyPath = ()
) -> Iterator[OptionFault]:
    """Everything that is wrong with the options of a target, as a configuration has them."""
    odd = [fault for name in values for fault in _odd_value(name, values[name], path)]
    if odd:
        # A date, or a number that is none: no shape knows what to say of it.
        yield from odd
    else:
        what = f"a target of kind `{kind.name}`"
        yield from faults_of(kind.options, _as_json(values), what, path)


def read_value(kind: TargetKind, value: str) -> dict[str, JSON]:
    """The options that `kind:value` gives. Raise ConfigError if it can't be read."""
    if kind.split_value is not None:
        return kind.split_value(value)
    if kind.value is not None and value:
        return {kind.value: value}
    if value:
        raise ConfigError(f"{kind.name} target: it takes no value, so not `{value}`")
    return {}


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


def _split_name(name: str, config: Config) -> tuple[TargetKind, str]:
    word, _, value = name.partition(":")
    try:
        kind = find_target_kind(word)
    except ConfigError:
        if value:
            raise
        kind = None
    if kind is None or (kind.value_needed and not value):
        known = ", ".join(config.targets) or "none"
        raise ConfigError(f"there is no target `{name}`; the configured ones are: {known}")
    return kind, value


def _check_reach(name: str, kind: TargetKind, value: str, root: str) -> None:
    if not kind.runs_code and kind.carries_address(value):
        raise ConfigError(
            f"target `{name}` of a suite carries an address, and only the configuration or the "
            f"command line may: add [targets.NAME] to evalcase.toml, and name that in the suite"
        )
    if kind.value_is_path and not leads_inside(value, root):
        raise ConfigError(
            f"target `{name}` of a suite leads out of the project, and only the configuration or "
            f"the command line may: add [targets.NAME] to evalcase.toml, and name that in the suite"
        )


def _odd_value(name: str, value: object, path: KeyPath) -> Iterator[OptionFault]:
    try:
        copy_json(value)
    except NotJsonError as error:
        yield OptionFault((*path, name), f"`{name}` can't be written as JSON: {error}")


def _as_json(values: Mapping[str, object]) -> dict[str, JSON]:
    return {name: copy_json(value) for name, value in values.items()}


def _describe(fault: OptionFault) -> str:
    return fault.message if fault.hint is None else f"{fault.message}: {fault.hint}"
