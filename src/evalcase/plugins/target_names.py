"""What is wrong with the name of a target, or with its table: found out without making one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalcase.errors import ConfigError
from evalcase.model.finding import Finding, KeyPath, Unfit
from evalcase.model.target import TargetKind
from evalcase.plugins.registry import find_target_kind, is_known, names
from evalcase.plugins.targets import read_value, target_faults
from evalcase.project.config import Config
from evalcase.system.project_root import leads_inside
from evalcase.text.suggest import did_you_mean

_CONFIGURE_IT = "add [targets.NAME] to evalcase.toml, and name that here"


def object_to_target(name: str, config: Config, *, of_suite: bool) -> Unfit | None:
    """Why no target can be made of a name; None where nothing speaks against it.

    What only a suite says (`of_suite`) may not carry an address, or leave the project.
    """
    if name in config.targets:
        return None
    word, colon, value = name.partition(":")
    if not is_known("targets", word):
        if not colon and not config.is_read:
            return None
        return _unknown_kind(word) if colon else _undefined(name, config)
    try:
        kind = find_target_kind(word)
        if not value and kind.value_needed:
            message, hint = f"the target `{name}` needs a value", f"write {word}:VALUE"
            return Unfit("unknown-target", message, hint)
        if of_suite and name != config.target:
            unfit = _object_to_reach(kind, value, config.root)
            if unfit is not None:
                return unfit
        faults = target_faults(kind, read_value(kind, value))
    except ConfigError as error:
        return Unfit("bad-value", str(error))
    return next((Unfit(fault.code, fault.message, fault.hint) for fault in faults), None)


def _unknown_kind(name: str) -> Unfit:
    known = names("targets")
    hint = did_you_mean(name.lower(), known) or f"there are {', '.join(known)}"
    return Unfit("unknown-target", f"there is no target kind `{name}`", hint)


def _undefined(name: str, config: Config) -> Unfit:
    plain = name if name.isidentifier() else f'"{name}"'
    hint = f"add [targets.{plain}] to evalcase.toml, or write kind:value"
    if config.path is None:
        message = f"no configuration says what the target `{name}` is"
        return Unfit("undefined-target", message, hint)
    if config.targets:
        hint = f"it has {', '.join(config.targets)}; any other is kind:value"
    hint = did_you_mean(name, [*config.targets, "echo"]) or hint
    message = f"there is no target `{name}` in the configuration"
    return Unfit("unknown-target", message, hint)


def _object_to_reach(kind: TargetKind, value: str, root: str) -> Unfit | None:
    if not kind.runs_code and kind.carries_address(value):
        message = "the target of a suite carries an address, which only the configuration may"
        return Unfit("address-in-suite", message, _CONFIGURE_IT)
    if kind.value_is_path and not leads_inside(value, root):
        message = f"`{value}` lies outside the project, and a suite may not leave it"
        return Unfit("file-outside-project", message, _CONFIGURE_IT)
    return None


def find_wrong_targets(config: Config, used: frozenset[str] | None = None) -> Iterator[Finding]:
    """What is wrong with the targets of a configuration: tables, the default, the judge's.

    With `used`, only of the targets that are.
    """
    for name, table in config.targets.items():
        if used is None or name in used:
            yield from _find_wrong_options(name, table)
    named: list[tuple[str | None, KeyPath]] = [(config.target, ("target",))]
    if config.judge is not None:
        named.append((config.judge.target, ("judge", "target")))
    for target, path in named:
        if target is not None and (used is None or target in used):
            unfit = object_to_target(target, config, of_suite=False)
            if unfit is not None:
                yield Finding(unfit.code, path, unfit.message, unfit.hint)


def _find_wrong_options(name: str, table: Mapping[str, object]) -> Iterator[Finding]:
    word, path = table.get("kind"), ("targets", name)
    if not isinstance(word, str) or not word:
        return  # that has been said of the settings
    if not is_known("targets", word):
        unfit = _unknown_kind(word)
        yield Finding(unfit.code, (*path, "kind"), unfit.message, unfit.hint)
        return
    try:
        kind = find_target_kind(word)
    except ConfigError as error:
        yield Finding("unknown-target", (*path, "kind"), str(error))
        return
    for fault in target_faults(kind, table, path):
        # What is missing is missing in the whole table: its name stands for it.
        at = "key" if fault.path == path else fault.at
        yield Finding(fault.code, fault.path, fault.message, fault.hint, at)
