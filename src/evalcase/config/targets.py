"""Names and tables to targets. Everything that is wrong with one is found without running code of
the project."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from evalcase.config.config import Config, in_toml, name_table
from evalcase.config.registry import find_class, find_target_kind, is_known, list_names
from evalcase.errors import ConfigError
from evalcase.targets.presets import PRESETS
from evalcase.types.problem import Finding, did_you_mean, find_nearest, hint_at
from evalcase.types.read_options import fields_of, make, problems_in
from evalcase.types.target import MakeTarget, Surroundings, Target, TargetKind, TargetVersion
from evalcase.types.value import JSON
from evalcase.util.code import object_to_function
from evalcase.util.json import NotJsonError, copy_json
from evalcase.util.project import (
    attachments_in,
    describe_root,
    find_program,
    find_script,
    leads_inside,
)
from evalcase.util.text import list_some

_NONE: Mapping[str, Finding] = MappingProxyType({})
_NAMED = 10


def split_name(name: str) -> tuple[str, str]:
    """The kind and the value of a name that the configuration doesn't have."""
    if name.startswith(("http://", "https://")):
        return "http", name
    kind, _, value = name.partition(":")
    return kind, value


def kind_of(name: str, config: Config) -> TargetKind:
    return find_target_kind(_word_for_kind(name, config))


def _word_for_kind(name: str, config: Config) -> str:
    return str(config.targets[name]["kind"]) if name in config.targets else split_name(name)[0]


def _options_for(name: str, config: Config) -> Mapping[str, object]:
    """The table of a name, or the options of `kind:value`. Raise ConfigError for a bad value."""
    table = config.targets.get(name)
    return read_value(kind_of(name, config), split_name(name)[1]) if table is None else table


def read_value(kind: TargetKind, value: str) -> dict[str, JSON]:
    """The options that `kind:value` gives. Raise ConfigError if it can't be read."""
    if kind.split_value is not None:
        return kind.split_value(value)
    if value and kind.value is None:
        raise ConfigError(f"{kind.name} target: it takes no value, so not `{value}`")
    return {kind.value: value} if value and kind.value else {}


def make_target(
    name: str, config: Config, surroundings: Surroundings, *, no_exec: bool = False,
    of_suite: bool = False,
) -> Target:  # fmt: skip
    """The target of a name. Raise ConfigError with everything that is wrong with it.

    A name that only a suite gives (`of_suite`) may not carry an address, nor a path that leads out
    of the project: suites come from anyone.
    """
    unfit = object_to_target(name, config, of_suite=of_suite, only_name=True)
    if unfit is not None:
        raise ConfigError(with_hint(unfit))
    kind = kind_of(name, config)
    if no_exec and kind.runs_code:
        raise ConfigError(describe_forbidden_target(name))
    where = f"[targets.{name}]: " if name in config.targets else f"target `{name}`: "
    target_class = find_class("targets", _word_for_kind(name, config))
    return build_target(target_class, kind, _options_for(name, config), surroundings, where)


def build_target(
    target_class: MakeTarget, kind: TargetKind, values: Mapping[str, object],
    surroundings: Surroundings, where: str = "",
) -> Target:  # fmt: skip
    """A target of some options. Raise ConfigError with everything that is wrong with them."""
    if faults := "; ".join(map(with_hint, target_faults(kind, values))):
        raise ConfigError(where + faults)
    options = make(kind.options, {name: copy_json(value) for name, value in values.items()})
    return target_class(options, surroundings)


def with_hint(fault: Finding) -> str:
    return fault.message if fault.hint is None else f"{fault.message}: {fault.hint}"


def describe_forbidden_target(name: str) -> str:
    return f"target `{name}` would run code, and --no-exec forbids that"


def bounds_of(name: str, target: Target, config: Config) -> list[int]:
    """The limits on how many trials of a target run at once: the configured one, and its own."""
    bounds = config.targets.get(name, {}).get("concurrency"), target.traits.concurrency
    return [*filter(None, bounds)]


def key_names(config: Config, targets: Iterable[Target]) -> set[str]:
    """The environment variables whose values must not be written down."""
    names = set(config.secrets)
    for options in config.targets.values():
        headers: object = options.get("header_env")
        held = [options.get("key_env"), *(headers.values() if isinstance(headers, dict) else ())]
        names.update(each for each in held if isinstance(each, str))
    for target in targets:
        names.update(target.traits.key_names)
    return names - {""}


def version_of(target: Target | None, options: Mapping[str, Any] | None) -> TargetVersion:
    """Hashes of what a target is just now; `options` are its table of the configuration."""
    deciding = dict(options or {})
    with suppress(ConfigError):
        declared = fields_of(find_target_kind(str(deciding["kind"])).options) if deciding else {}
        for name, option in declared.items():
            if not option.decides_answer:
                deciding.pop(name, None)
    # An object that a program passes in may lack methods of Target.
    files = target.sources() if isinstance(target, Target) else {}
    return TargetVersion(_hash(deciding), _hash(files) if files else "")


def _hash(values: Mapping[str, Any]) -> str:
    text = repr(sorted(values.items()))
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


# What is wrong with a name


def object_to_target(
    name: str, config: Config, *, of_suite: bool, broken: Mapping[str, Finding] = _NONE,
    only_name: bool = False,
) -> Finding | None:  # fmt: skip
    """Why a name can't be used as a target; with `only_name`, without a look at its options.

    Problems of a table are reported in the configuration. `broken` has targets that can't be used
    for another reason.
    """
    if name in config.targets:
        return None
    if not name:
        hint = "write kind:value"
        return Finding((), "the name of a target is empty", hint, code="unknown-target")
    word, value = split_name(name)
    if not is_known("targets", word):
        if ":" in name:
            return _object_to_kind(name)
        return _object_to_undefined(name, config) if config.is_read else broken.get(name)
    try:
        kind = find_target_kind(word)
        if not value and kind.value_needed:
            message = f"the target `{name}` needs a value"
            hint = f"write {kind.name}:{(kind.value or 'value').upper()}"
            return Finding((), message, hint, code="unknown-target")
        is_trusted = not of_suite or name == config.target
        unfit = None if is_trusted else _object_to_reach(kind, value, config)
        if unfit is not None or only_name:
            return unfit
        options = read_value(kind, value)
    except ConfigError as error:
        return Finding((), str(error))
    for found in _find_wrong_options(kind, options, config.root):
        return found._replace(path=(), at="value")
    return broken.get(name)


def _object_to_kind(name: str) -> Finding:
    known = list_names("targets")
    kind, colon, value = name.partition(":")
    near = find_nearest(kind.lower(), known) if kind.isidentifier() else None
    hint = _hint_for_target(name) if near is None else hint_at(f"{near}{colon}{value}")
    hint = hint or f"there are {', '.join(known)}"
    return Finding((), f"there is no target kind `{kind}`", hint, code="unknown-target")


def _object_to_undefined(name: str, config: Config) -> Finding:
    table = name_table(config.path, "targets." + (name if name.isidentifier() else f'"{name}"'))
    hint = f"add {table}, or write kind:value, such as python:my_agent:answer"
    hint = _hint_for_target(name) or hint
    if config.path is None:
        message = f"no configuration says what the target `{name}` is"
        return Finding((), message, hint, code="undefined-target")
    message = f"there is no target `{name}` in the configuration"
    if config.targets:
        known = [f"`{each}`" for each in config.targets]
        hint = f"it has {list_some(known[:_NAMED], len(known))}; {hint}"
    hint = did_you_mean(name, [*config.targets, "echo"]) or hint
    return Finding((), message, hint, code="unknown-target")


def _object_to_reach(kind: TargetKind, value: str, config: Config) -> Finding | None:
    hint = f"add {name_table(config.path, 'targets.NAME')}, and name that here"
    if not kind.runs_code and kind.carries_address(value):
        message = "the target of a suite carries an address, which only the configuration may"
        return Finding((), message, hint, code="address-in-suite")
    # A path with NUL is a file that isn't there.
    if kind.value_is_path and "\0" not in value and not leads_inside(value, config.root):
        message = f"`{value}` is outside the project, and a suite may not leave it"
        return Finding((), message, hint, code="file-outside-project")
    return None


_MEANT = {
    r"(?:\./)?([^:]+\.py)": r"python:./\1:FUNCTION",
    r"(?:\./)?([^:]+\.py):(.+)": r"python:./\1:\2",
    r"\S+ .+|\.?/[^:]+": r"command:\g<0>",
    r"[^:]+\.jsonl?": r"replay:\g<0>",
    r"gpt-.*": r"openai:\g<0>",
    r"claude.*": r"anthropic:\g<0>",
    rf"(openai|anthropic|{'|'.join(PRESETS)})/(.+)": r"\1:\2",
    r"litellm[:/](.+)": r"openai:\1@ADDRESS",
    r"[^\W\d][\w.]*:[^\W\d][\w.]*": r"python:\g<0>",
}


def _hint_for_target(name: str) -> str | None:
    """What was probably meant by a name that is not a target; None if nothing is likely."""
    for pattern, meant in _MEANT.items():
        if (match := re.fullmatch(pattern, name)) is not None:
            return hint_at(match.expand(meant))
    return None


# What is wrong with the configuration's targets


def find_wrong_targets(
    config: Config, used: frozenset[str] | None = None, broken: Mapping[str, Finding] = _NONE
) -> Iterator[Finding]:
    """What is wrong with the targets of a configuration: tables, the default, the judge's.

    With `used`, only with these targets. `broken` has targets that can't be used for another
    reason.
    """
    for name, table in config.targets.items():
        if used is None or name in used:
            yield from _find_wrong_table(name, table, config, broken.get(name))
    judge = config.judge.target if config.judge is not None else None
    for target, path in ((config.target, ("target",)), (judge, ("judge", "target"))):
        if target is not None and (used is None or target in used):
            unfit = object_to_target(target, config, of_suite=False, broken=broken)
            if unfit is not None:
                yield unfit._replace(path=path)


def _find_wrong_table(
    name: str, table: Mapping[str, object], config: Config, broken: Finding | None
) -> Iterator[Finding]:
    word, path = table.get("kind"), ("targets", name)
    if not isinstance(word, str) or not word:
        return  # a problem of the configuration, which reports it
    if not is_known("targets", word):
        yield _object_to_kind(word)._replace(path=(*path, "kind"))
        return
    try:
        kind = find_target_kind(word)
    except ConfigError as error:
        yield Finding((*path, "kind"), str(error), code="bad-target")
        return
    found = [*_find_wrong_options(kind, table, config.root)]
    if not found and broken is not None:
        found = [broken._replace(path=(kind.value,) if kind.value and kind.value in table else ())]
    for each in found:
        # A missing option is a problem of the whole table: it is shown at the table's name.
        yield each._replace(path=(*path, *each.path), at=each.at if each.path else "key")


def _find_wrong_options(
    kind: TargetKind, options: Mapping[str, object], root: str
) -> Iterator[Finding]:
    """What is wrong with the options of a target, and with what they name."""
    value, unfit = options.get(kind.value or ""), None
    if kind.name == "command":
        unfit = _object_to_command(options, root)
    elif isinstance(value, str) and kind.name == "python":
        unfit = _object_to_answering(value, root)
    elif isinstance(value, str) and kind.value_is_path:
        unfit = _object_to_file(value, root, kind.folder_holds)
    if unfit is not None:
        yield unfit._replace(path=unfit.path or (kind.value or "",))
    yield from _find_missing_files(kind.name, options, root)
    yield from target_faults(kind, options)


def target_faults(kind: TargetKind, values: Mapping[str, object]) -> Iterator[Finding]:
    """Everything that is wrong with the options of a target, as a configuration has them."""
    sound: dict[str, JSON] = {}
    for name, value in values.items():
        try:
            sound[name] = copy_json(value)
        except NotJsonError as error:
            yield Finding((name,), f"`{name}` can't be written as JSON: {error}")
    for fault in problems_in(kind.options, sound, f"a target of kind `{kind.name}`"):
        yield in_toml(fault)


def describe_same_model(judge: str, target: str, config: Config) -> str | None:
    """A sentence where a judge is the model that it judges: it prefers its own answers."""
    if judge == target:
        return f"`{judge}` judges its own answers"
    model = _model_of(judge, config)
    if model is None or model != _model_of(target, config):
        return None
    return f"`{judge}` judges the answers of its own model, {model[1]}, asked as `{target}`"


def _model_of(name: str, config: Config) -> tuple[str, str] | None:
    try:
        model = _options_for(name, config).get("model")
        return (kind_of(name, config).name, model) if isinstance(model, str) else None
    except ConfigError:
        return None


# What options name: functions, files and programs


def _find_missing_files(kind: str, options: Mapping[str, object], root: str) -> Iterator[Finding]:
    """Files and folders that an agent needs, and that are not there."""
    for option in ("overlay", "mounts", "mcp", *(("plugins",) if kind == "claude" else ())):
        held = options.get(option)
        several: dict[Any, Any] = dict(enumerate(held)) if isinstance(held, list) else {None: held}
        for key, name in (held if isinstance(held, dict) else several).items():
            if not isinstance(name, str) or "\0" in name:
                continue
            path = (option,) if key is None else (option, key)
            if option == "overlay" and not leads_inside(name, root):
                what = f"`{name}` is outside the project, and an overlay may not leave it"
                yield Finding(path, what, code="file-outside-project")
            elif not os.path.exists(os.path.join(root, os.path.expanduser(name))):
                what = f"there is no file or folder `{name}`"
                yield Finding(path, what, describe_root(root), code="missing-file")


def _object_to_answering(reference: str, root: str) -> Finding | None:
    file = reference.rpartition(":")[0]
    if file.startswith("./") and file.endswith(".py"):
        path = attachments_in(root, root).find_from_root(file)
        if isinstance(path, Finding):
            return path
    return object_to_function(reference, root, "target")


def _object_to_file(name: str, root: str, folder_holds: tuple[str, ...] | None) -> Finding | None:
    path = os.path.join(root, name)
    if not os.path.exists(path):
        if "\0" not in name and not leads_inside(name, root):
            return None  # files outside the project may come and go
        return Finding((), f"there is no file `{name}`", describe_root(root), code="missing-file")
    if folder_holds is None or os.path.isfile(path):
        return None
    if any(os.path.lexists(os.path.join(path, each)) for each in folder_holds):
        return None
    hint = f"name a file, or a folder with {folder_holds[0]}" if folder_holds else "name a file"
    return Finding((), f"`{name}` is not a regular file", hint, code="bad-file")


def _object_to_command(options: Mapping[str, object], root: str) -> Finding | None:
    command, cwd, env = options.get("command"), options.get("cwd") or "", options.get("env")
    if not isinstance(cwd, str) or not isinstance(command, list):
        return None  # a line for the shell, or a mistake in the options
    if str(options.get("isolation")).startswith(("docker:", "podman:")):
        return None  # its program is in the image
    if leads_inside(cwd, root) and not os.path.isdir(os.path.join(root, cwd)):
        missing = f"there is no folder `{cwd}`"
        return Finding(("cwd",), missing, describe_root(root), code="missing-file")
    name = command[0] if command and isinstance(command[0], str) else ""
    if "{" in name:
        return None  # a placeholder is filled in later
    variables = env if isinstance(env, Mapping) else {}
    if (unfit := object_to_program(name, root, cwd, variables)) is not None:
        return unfit._replace(path=("command", 0))
    script = find_script(command)
    if script is not None and (unfit := object_to_script(script, root, cwd)) is not None:
        hint = unfit.hint
        if unfit.code == "missing-file" and not cwd:
            hint = f"{hint}; one of a workspace is written {{workspace}}/{script}"
        return unfit._replace(path=("command", 1), hint=hint)
    return None


def object_to_program(
    name: str, root: str, folder: str = "", env: Mapping[str, object] = MappingProxyType({})
) -> Finding | None:
    """Why a program can't be run, seen from a folder of the project, with its own variables. One
    from outside the project only seems to be missing: the run may take place elsewhere."""
    environment = {**os.environ, **{key: str(value) for key, value in env.items()}}
    if not name or find_program(name, os.path.join(root, folder), environment) is not None:
        return None
    hint = f"it is looked for in the folders of PATH; a file is written ./{name}"
    if os.path.dirname(name):
        if os.path.exists(os.path.join(root, folder, name)):
            hint = f"make it so: chmod +x {name}"
            return Finding((), f"`{name}` is not executable", hint, code="bad-file")
        if (missing := object_to_script(name, root, folder)) is not None:
            return missing
    message = f"there is no program `{name}` on this machine"
    return Finding((), message, hint, code="missing-program")


def object_to_script(name: str, root: str, folder: str = "") -> Finding | None:
    """Why an interpreter can't run a file of the project, seen from a folder of it. Files outside
    the project may come and go."""
    path = os.path.join(root, folder, name)
    if os.path.isdir(path) and not os.path.isfile(os.path.join(path, "__main__.py")):
        return Finding((), f"`{name}` is a folder, and no file to run", code="bad-file")
    if os.path.exists(path) or not leads_inside(os.path.join(folder, name), root):
        return None
    hint = f"it is looked for from `{folder}`, its `cwd`" if folder else describe_root(root)
    return Finding((), f"there is no file `{name}` to run", hint, code="missing-file")
