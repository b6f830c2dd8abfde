"""What is wrong with the name of a target, or with its table: found out without making one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from evalcase.errors import ConfigError
from evalcase.model.finding import Finding, Path, Unfit
from evalcase.model.json_value import JSON
from evalcase.model.option import faults_of, options_of
from evalcase.model.shape_names import FilePath
from evalcase.model.target import TargetKind
from evalcase.plugins.registry import names, search
from evalcase.project.config import Config


def object_to_target(name: str, config: Config, *, of_suite: bool) -> Unfit | None:
    """Why no target can be made of a name; None where nothing speaks against it.

    What only a suite says (`of_suite`) may not carry an address, or leave the project.
    """
    if name in config.targets:
        return None
    kind_name, colon, value = name.partition(":")
    try:
        kind = find_kind(kind_name)
    except ConfigError as error:
        return Unfit("unknown-target", str(error))
    if kind is None:
        return _unknown_kind(kind_name) if colon else _undefined(name, config)
    if not value and kind.value_needed:
        message, hint = f"the target `{name}` needs a value", f"write {kind_name}:VALUE"
        return Unfit("unknown-target", message, hint)
    return _object_to_value(kind, value, config, of_suite and name != config.target)


def find_kind(name: str) -> TargetKind | None:
    """What a kind of target says of itself; None if there is none of that name.

    Raise ConfigError if it is installed and can't be used.
    """
    found = search("targets", name)
    if found is None:
        return None
    if not hasattr(found, "kind"):  # TEMPORARY
        from evalcase.model.target import TEMPORARY

        return TEMPORARY
    kind: TargetKind | None = found.kind
    if kind is None:
        raise ConfigError(f"the target `{name}` does not say what it is: its class has no `kind`")
    return kind


def _unknown_kind(name: str) -> Unfit:
    message = f"there is no target kind `{name}`"
    return Unfit("unknown-target", message, _nearest(name, names("targets")))


def _undefined(name: str, config: Config) -> Unfit:
    if config.path is None:
        message = f"no configuration says what the target `{name}` is"
        return Unfit("undefined-target", message, _how_to_define(name))
    from difflib import get_close_matches

    message = f"there is no target `{name}` in the configuration"
    close = get_close_matches(name, [*config.targets, "echo"], 1, 0.6)
    if close:
        hint = f"did you mean `{close[0]}`?"
    elif config.targets:
        hint = f"it has {', '.join(config.targets)}; any other is kind:value"
    else:
        hint = _how_to_define(name)
    return Unfit("unknown-target", message, hint)


def _how_to_define(name: str) -> str:
    plain = name if name.isidentifier() else f'"{name}"'
    return f"add [targets.{plain}] to evalcase.toml, or write kind:value"


def _object_to_value(kind: TargetKind, value: str, config: Config, of_suite: bool) -> Unfit | None:
    if of_suite and not kind.runs_code and kind.carries_address(value):
        message = "the target of a suite carries an address, which only the configuration may"
        hint = "add [targets.NAME] to evalcase.toml, and name that here"
        return Unfit("address-in-suite", message, hint)
    try:
        options = _options_of_value(kind, value)
    except ConfigError as error:
        return Unfit("bad-value", str(error))
    for fault in faults_of(kind.options, options, f"the target `{kind.name}`"):
        return Unfit(fault.code, fault.message, fault.hint)
    if of_suite:
        return _object_to_paths(kind, options, config.root)
    return None


def _options_of_value(kind: TargetKind, value: str) -> dict[str, JSON]:
    if not value and not kind.value_needed:
        return {}
    if kind.split_value is not None:
        return kind.split_value(value)
    if kind.value is None:
        raise ConfigError(f"the target `{kind.name}` takes no value, so not `{value}`")
    return {kind.value: value}


def _object_to_paths(kind: TargetKind, options: Mapping[str, JSON], root: str) -> Unfit | None:
    for name, each in options_of(kind.options).items():
        path = options.get(name)
        if isinstance(each.shape, FilePath) and isinstance(path, str):
            real = os.path.realpath(os.path.join(root, path))
            if real != root and not real.startswith(os.path.join(root, "")):
                message = f"`{path}` lies outside the project, and a suite may not leave it"
                hint = "add [targets.NAME] to evalcase.toml, and name that here"
                return Unfit("file-outside-project", message, hint)
    return None


def find_wrong_targets(config: Config, used: frozenset[str] | None = None) -> Iterator[Finding]:
    """What is wrong with the targets of a configuration: tables, the default, the judge's.

    With `used`, only of the targets that are.
    """
    for name, table in config.targets.items():
        if used is None or name in used:
            yield from _wrong_table(name, table)
    named: list[tuple[str | None, Path]] = [(config.target, ("target",))]
    if config.judge is not None:
        named.append((config.judge.target, ("judge", "target")))
    for target, path in named:
        if target is not None and (used is None or target in used):
            unfit = object_to_target(target, config, of_suite=False)
            if unfit is not None:
                yield Finding(unfit.code, path, unfit.message, unfit.hint)


def _wrong_table(name: str, table: Mapping[str, JSON]) -> Iterator[Finding]:
    kind_name = table.get("kind")
    if not isinstance(kind_name, str) or not kind_name:
        return  # that has been said of the settings
    path: Path = ("targets", name)
    try:
        kind = find_kind(kind_name)
        unfit = _unknown_kind(kind_name) if kind is None else None
    except ConfigError as error:
        kind, unfit = None, Unfit("unknown-target", str(error))
    if unfit is not None:
        yield Finding(unfit.code, (*path, "kind"), unfit.message, unfit.hint)
    if kind is None:
        return
    for fault in faults_of(kind.options, table, f"the target `{name}`", path):
        # What is missing is missing in the whole table: its name stands for it.
        at = "key" if fault.path == path else fault.at
        yield Finding(fault.code, fault.path, fault.message, fault.hint, at)


def _nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), known, 1, 0.6)
    return f"did you mean `{close[0]}`?" if close else f"there are {', '.join(known)}"
