"""What is wrong with the name of a target, or with its table: found out without making one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from evalcase.errors import ConfigError
from evalcase.model.finding import Finding, KeyPath, Unfit
from evalcase.model.json_value import JSON
from evalcase.model.nearest import did_you_mean, find_nearest, hint_at
from evalcase.model.option import faults_of, options_of
from evalcase.model.shape import OptionFault
from evalcase.model.target import TargetKind
from evalcase.plugins.named_things import object_to_named
from evalcase.plugins.registry import find_target_kind, is_known, list_names
from evalcase.project.config import Config
from evalcase.project.config_file import say_table
from evalcase.system.project_root import leads_inside
from evalcase.text.plain_json import NotJsonError, copy_json

_NONE: Mapping[str, Unfit] = MappingProxyType({})
_FUNCTION = "python:my_agent:answer"


class NamedTarget(NamedTuple):
    """What a name says of a target: its kind, and a value or a table of the configuration."""

    kind: str
    value: str
    where: str
    """Before what is said of its options."""
    table: Mapping[str, object] | None = None

    def options(self, kind: TargetKind) -> Mapping[str, object]:
        """Its options. Raise ConfigError if the value can't be read."""
        return read_value(kind, self.value) if self.table is None else self.table


def name_target(name: str, config: Config) -> NamedTarget:
    """What a name stands for: a table of the configuration, `kind:value`, or a plain address."""
    table = config.targets.get(name)
    if table is not None:
        return NamedTarget(str(table["kind"]), "", f"[targets.{name}]: ", table)
    kind, value = split_name(name)
    return NamedTarget(kind, value, f"target `{name}`: ")


def split_name(name: str) -> tuple[str, str]:
    """The kind and the value of a name that no configuration has. An address is of `http`."""
    if name.startswith(("http://", "https://")):
        return "http", name
    kind, _, value = name.partition(":")
    return kind, value


def object_to_target(name: str, config: Config, *, of_suite: bool) -> Unfit | None:
    """Why no target can be made of a name; None where nothing speaks against it.

    What only a suite says (`of_suite`) may not carry an address, or leave the project.
    """
    unfit = object_to_name(name, config, of_suite=of_suite)
    word, value = split_name(name)
    if unfit is not None or name in config.targets or not is_known("targets", word):
        return unfit
    try:
        kind = find_target_kind(word)
        options = read_value(kind, value)
    except ConfigError as error:
        return Unfit("bad-value", str(error))
    for fault in target_faults(kind, options):
        return Unfit(fault.code, fault.message, fault.hint)
    named = object_to_named(kind, options, config.root, config.is_read)
    return None if named is None else named[1]


def object_to_name(name: str, config: Config, *, of_suite: bool) -> Unfit | None:
    """The same, whatever options the name gives."""
    if name in config.targets:
        return None
    if not name:
        return Unfit("unknown-target", "the name of a target is empty", "write kind:value")
    word, value = split_name(name)
    if not is_known("targets", word):
        if ":" not in name and not config.is_read:
            return None
        return _unknown_kind(name, config.root) if ":" in name else _explain_undefined(name, config)
    is_trusted = not of_suite or name == config.target
    try:
        kind = find_target_kind(word)
        if value or not kind.value_needed:
            return None if is_trusted else _object_to_reach(kind, value, config)
    except ConfigError as error:
        return Unfit("bad-value", str(error))
    return Unfit("unknown-target", f"the target `{name}` needs a value", _hint_at_value(kind))


def _hint_at_value(kind: TargetKind) -> str:
    declared: type = kind.options
    value = options_of(declared)[kind.value] if kind.value is not None else None
    hint = f"write {kind.name}:{(kind.value or 'value').upper()}"
    is_text = value is not None and isinstance(value.example, str)
    return f"{hint}, for example {kind.name}:{value.example}" if is_text and value else hint


def _unknown_kind(name: str, root: str) -> Unfit:
    from evalcase.plugins.target_hints import hint_for_target
    from evalcase.system.missing_modules import has_module

    known = list_names("targets")
    kind, colon, value = name.partition(":")
    near = find_nearest(kind.lower(), known)
    hint = None if near is None or not colon else hint_at(f"{near}:{value}")
    if hint is None or not kind.isidentifier() or has_module(kind, root):
        hint = hint_for_target(name, root) or hint_at(near) or f"there are {', '.join(known)}"
    return Unfit("unknown-target", f"there is no target kind `{kind}`", hint)


def _explain_undefined(name: str, config: Config) -> Unfit:
    from evalcase.plugins.target_hints import hint_for_target

    plain = name if name.isidentifier() else f'"{name}"'
    meant = hint_for_target(name, config.root)
    table = say_table(config.path, f"targets.{plain}")
    hint = meant or f"add {table}, or write kind:value, such as {_FUNCTION}"
    if config.path is None:
        message = f"no configuration says what the target `{name}` is"
        return Unfit("undefined-target", message, hint)
    if config.targets and meant is None:
        hint = f"it has {', '.join(config.targets)}; any other is kind:value, such as {_FUNCTION}"
    hint = did_you_mean(name, [*config.targets, "echo"]) or hint
    message = f"there is no target `{name}` in the configuration"
    return Unfit("unknown-target", message, hint)


def _object_to_reach(kind: TargetKind, value: str, config: Config) -> Unfit | None:
    hint = f"add {say_table(config.path, 'targets.NAME')}, and name that here"
    if not kind.runs_code and kind.carries_address(value):
        message = "the target of a suite carries an address, which only the configuration may"
        return Unfit("address-in-suite", message, hint)
    # What no path can be is a file that isn't there.
    if kind.value_is_path and "\0" not in value and not leads_inside(value, config.root):
        message = f"`{value}` is outside the project, and a suite may not leave it"
        return Unfit("file-outside-project", message, hint)
    return None


def find_wrong_targets(
    config: Config, used: frozenset[str] | None = None, broken: Mapping[str, Unfit] = _NONE
) -> Iterator[Finding]:
    """What is wrong with the targets of a configuration: tables, the default, the judge's.

    With `used`, only of the targets that are. `broken` are those of which somebody knows better.
    """
    for name, table in config.targets.items():
        if used is None or name in used:
            yield from list(_find_wrong_options(name, table, config)) or (
                [_find_broken(name, table, broken[name])] if name in broken else []
            )
    yield from _find_wrong_names(config, used, broken)
    if used is None and config.judge is not None and config.target is not None:
        same = describe_same_model(config.judge.target, config.target, config)
        if same is not None:
            yield Finding("same-model", ("judge", "target"), same, "ask another model to judge")


def _find_wrong_names(
    config: Config, used: frozenset[str] | None, broken: Mapping[str, Unfit]
) -> Iterator[Finding]:
    named: list[tuple[str | None, KeyPath]] = [(config.target, ("target",))]
    if config.judge is not None:
        named.append((config.judge.target, ("judge", "target")))
    for target, path in named:
        if target is not None and (used is None or target in used):
            unfit = object_to_target(target, config, of_suite=False)
            if unfit is None and target not in config.targets:
                unfit = broken.get(target)
            if unfit is not None:
                yield Finding(unfit.code, path, unfit.message, unfit.hint)


def _find_broken(name: str, table: Mapping[str, object], unfit: Unfit) -> Finding:
    """What is wrong with a target, at the option that says what it is, if it has one."""
    path = "targets", name
    value = find_target_kind(str(table["kind"])).value
    if value is not None and value in table:
        return Finding(unfit.code, (*path, value), unfit.message, unfit.hint)
    return Finding(unfit.code, path, unfit.message, unfit.hint, "key")


def describe_same_model(judge: str, target: str, config: Config) -> str | None:
    """A sentence where a judge is the model that it judges, which it finds better than it is."""
    if judge == target:
        return f"`{judge}` judges its own answers"
    model = _model_of(judge, config)
    if model is None or model != _model_of(target, config):
        return None
    return (
        f"`{judge}` judges the answers of its own model, {model[1]}, which is asked as `{target}`"
    )


def describe_same_user(user: str, target: str | None) -> str | None:
    """A sentence where a target plays the user that it is to help."""
    return (
        f"`{user}` talks to itself: it plays the user, and it is tested" if user == target else None
    )


def _model_of(name: str, config: Config) -> tuple[str, str] | None:
    """The kind and the model that a name stands for; None if it is no model, or not to be used."""
    named = name_target(name, config)
    try:
        model = named.options(find_target_kind(named.kind)).get("model")
    except ConfigError:
        return None
    return (named.kind, model) if isinstance(model, str) else None


def _find_wrong_options(
    name: str, table: Mapping[str, object], config: Config
) -> Iterator[Finding]:
    word, path = table.get("kind"), ("targets", name)
    if not isinstance(word, str) or not word:
        return  # that has been said of the settings
    if not is_known("targets", word):
        unfit = _unknown_kind(word, config.root)
        yield Finding(unfit.code, (*path, "kind"), unfit.message, unfit.hint)
        return
    try:
        kind = find_target_kind(word)
    except ConfigError as error:
        yield Finding("bad-target", (*path, "kind"), str(error))
        return
    named = object_to_named(kind, table, config.root, is_project=True)
    if named is not None:
        option, unfit = named
        yield Finding(unfit.code, (*path, *option), unfit.message, unfit.hint)
    for fault in target_faults(kind, table, path):
        # What is missing is missing in the whole table: its name stands for it.
        at = "key" if fault.path == path else fault.at
        yield Finding(fault.code, fault.path, fault.message, fault.hint, at, hides=fault.hides)


def target_faults(
    kind: TargetKind, values: Mapping[str, object], path: KeyPath = ()
) -> Iterator[OptionFault]:
    """Everything that is wrong with the options of a target, as a configuration has them."""
    # Of a date, or a number that is none, no shape knows what to say.
    odd = {name: [*_odd_value(name, value, path)] for name, value in values.items()}
    yield from (fault for found in odd.values() for fault in found)
    well = values_as_json({name: value for name, value in values.items() if not odd[name]})
    what = f"a target of kind `{kind.name}`"
    at_fault = [name for name, found in odd.items() if found]
    faults = list(faults_of(kind.options, well, what, path, at_fault=at_fault))
    if faults:
        from evalcase.project.toml_hints import hint_at_inside, in_toml

        declared: type = kind.options
        known = options_of(declared)
        yield from (hint_at_inside(in_toml(each), known, well) for each in faults)


def read_value(kind: TargetKind, value: str) -> dict[str, JSON]:
    """The options that `kind:value` gives. Raise ConfigError if it can't be read."""
    if kind.split_value is not None:
        return kind.split_value(value)
    if kind.value is not None and value:
        return {kind.value: value}
    if value:
        raise ConfigError(f"{kind.name} target: it takes no value, so not `{value}`")
    return {}


def _odd_value(name: str, value: object, path: KeyPath) -> Iterator[OptionFault]:
    try:
        copy_json(value)
    except NotJsonError as error:
        yield OptionFault((*path, name), f"`{name}` can't be written as JSON: {error}")


def values_as_json(values: Mapping[str, object]) -> dict[str, JSON]:
    """Values of a configuration that have no faults, as JSON."""
    return {name: copy_json(value) for name, value in values.items()}


def describe_fault(message: str, hint: str | None) -> str:
    """What is wrong and its cure, as one clause."""
    return message if hint is None else f"{message}: {hint}"
