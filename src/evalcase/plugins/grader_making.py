"""One grader of what a case says of it: its class found, its options checked, those inside made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from evalcase.errors import ConfigError
from evalcase.model.grader import Grader, GraderKind, NamedGrader
from evalcase.model.grader_options import DeclaredGrader, SharedOptions, declared_grader
from evalcase.model.json_value import JSON
from evalcase.model.option import made_of, options_of
from evalcase.plugins.registry import find_class, is_own_class
from evalcase.project.config import Config

Defaults: TypeAlias = Mapping[str, Mapping[str, JSON]]
"""Options by kinds of graders."""
_NO_DEFAULTS: Defaults = MappingProxyType({})


def defaults_of(config: Config) -> Defaults:
    """What [judge] says is what a judge does that is told nothing else."""
    judge = config.judge
    if judge is None:
        return {}
    return {"judge": {"target": judge.target, "votes": judge.votes, "unsure": judge.unsure}}


def runs_code(named: NamedGrader) -> bool:
    """Whether a grader, or one inside of it, would start a process or import code."""
    return named.grader.kind.runs_code or any(map(runs_code, named.grader.inner()))


def is_ours(named: NamedGrader) -> bool:
    """Whether a grader, with those inside of it, is a part of evalcase and calls nobody's code."""
    kind = named.grader.kind
    is_own = not kind.runs_code and is_own_class("graders", type(named.grader), kind.name)
    return is_own and all(map(is_ours, named.grader.inner()))


def make_grader(spec: Mapping[str, JSON], defaults: Defaults = _NO_DEFAULTS) -> NamedGrader:
    """A grader of its canonical form `{type, …}`, with those inside of it.

    `defaults` are options of kinds that the configuration gives, for those that are not said.
    Raise ConfigError with everything that is wrong with its options.
    """
    word, _, value = str(spec["type"]).partition(":")
    declared = declared_grader(find_class("graders", word))
    options = {name: each for name, each in spec.items() if name != "type"}
    if value and declared.in_name is not None:
        options = {declared.in_name: value, **options}
    return make_declared(declared, options, defaults)


def make_declared(
    declared: DeclaredGrader, options: Mapping[str, JSON], defaults: Defaults = _NO_DEFAULTS
) -> NamedGrader:
    """A grader of a kind, of its options and of those that every grader has."""
    faults = [
        each.message if each.hint is None else f"{each.message}: {each.hint}"
        for each in declared.faults(options)
    ]
    if faults:
        raise ConfigError("; ".join(faults))
    named_by = options.get(declared.in_name or "")
    # There may be several, and a person wants to know which of them failed.
    name = f"{declared.kind.name}:{named_by}" if named_by else declared.kind.name
    counted: SharedOptions = made_of(SharedOptions, _choose_options(options, declared.shared))
    options = _with_defaults(options, defaults.get(declared.kind.name, {}), declared.kind)
    grader: Grader = made_of(declared.made_by, _with_inner(declared, options, defaults))
    threshold = counted.threshold if options.get("threshold") is not None else None
    return NamedGrader(
        counted.name or name, grader, counted.weight, counted.required, threshold,
        counted.negated, counted.timeout_s, counted.path,
    )  # fmt: skip


def _with_defaults(
    options: Mapping[str, JSON], given: Mapping[str, JSON], kind: GraderKind
) -> Mapping[str, JSON]:
    """The options with what is not said of them, but for what one of them stands in place of."""
    said = {name for name, value in options.items() if value is not None}
    said |= {other for name, other in kind.instead if name in said}
    unsaid = {name: each for name, each in given.items() if name not in said}
    return {**options, **unsaid} if unsaid else options


def _with_inner(
    declared: DeclaredGrader, options: Mapping[str, JSON], defaults: Defaults
) -> dict[str, object]:
    """The options of its own, with graders made of those that are lists of them."""
    own: dict[str, object] = dict(_choose_options(options, options_of(declared.made_by)))
    for name in declared.lists:
        specs = own.get(name)
        if isinstance(specs, list):
            own[name] = [make_grader(each, defaults) for each in specs]
    return own


def _choose_options(options: Mapping[str, JSON], names: Iterable[str]) -> dict[str, JSON]:
    return {name: options[name] for name in names if name in options}
