"""Graders of their specs, as suites and programs write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from evalcase.config.catalogue import read_fields
from evalcase.config.config import Config
from evalcase.config.registry import find_class
from evalcase.config.targets import with_hint
from evalcase.errors import ConfigError
from evalcase.graders.base import (
    DeclaredGrader,
    Grader,
    NamedGrader,
    SharedOptions,
    declared_grader,
    is_own_class,
)
from evalcase.types.read_options import fields_of, make
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON

NO_SURROUNDINGS = Surroundings(".", {}, lambda _: None, lambda: 0.0)


def make_grader(spec: Mapping[str, JSON], config: Config | None = None) -> NamedGrader:
    """A grader of its canonical form `{type, …}`, with those inside of it. Options that it leaves
    out may come from the configuration. Raise ConfigError with everything that is wrong."""
    options = dict(spec)
    word, _, value = str(options.pop("type")).partition(":")
    declared = declared_grader(find_class("graders", word))
    if value and declared.in_name is not None:
        options.setdefault(declared.in_name, value)
    return make_declared(declared, options, config)


def make_declared(
    declared: DeclaredGrader, options: Mapping[str, JSON], config: Config | None = None
) -> NamedGrader:
    """A grader of a kind, of its own options and of those that every grader has."""
    if faults := "; ".join(map(with_hint, declared.faults(options))):
        raise ConfigError(faults)
    given: dict[str, Any] = {**options, **_defaults_of(declared.kind, options, config)}
    for name in declared.naming("graders"):
        if isinstance(given.get(name), list):
            given[name] = [make_grader(each, config) for each in given[name]]
    own = fields_of(declared.kind)
    grader = make(declared.kind, {name: given[name] for name in given if name in own})
    shared = make(
        SharedOptions, {name: options[name] for name in options if name in declared.shared}
    )
    # There may be several, and a person wants to know which of them failed.
    value = options.get(declared.in_name or "")
    name = f"{declared.kind.name}:{value}" if value else declared.kind.name
    threshold = shared.threshold if options.get("threshold") is not None else None
    return NamedGrader(
        shared.name or name, grader, shared.weight, shared.required, threshold, shared.negated,
        shared.timeout_s, shared.path, shared.indicator,
    )  # fmt: skip


def _defaults_of(
    kind: type[Grader], options: Mapping[str, JSON], config: Config | None
) -> dict[str, JSON]:
    """The options of [judge] that a judge leaves out, and has nothing else in place of."""
    if config is None or config.judge is None:
        return {}
    said = {name for name, value in options.items() if value is not None}
    if kind.name == "script" and "max_calls" in said and "target" not in said:
        return {"target": config.judge.target}
    if kind.name != "judge":
        return {}
    if "panel" in said:
        said |= {"target", "votes"}
    names = {"target", "votes", "unsure"} - said
    return {name: getattr(config.judge, name) for name in names}


def canonical_graders(written: Sequence[object]) -> list[dict[str, Any]]:
    """The canonical form of graders in any of their spellings. Raise SuiteError with all that is
    wrong with them."""
    read = read_fields({"input": "any", "graders": list(written)}, "<graders>")
    graders: list[dict[str, Any]] = read.get("graders", [])
    return graders


def read_grader(written: str | Mapping[str, Any], config: Config, *, no_exec: bool) -> NamedGrader:
    """A grader as a file writes it. Raise SuiteError if it can't be read, ConfigError if it can't
    be made."""
    (spec,) = canonical_graders([written])
    made = make_grader(spec, config)
    if no_exec:
        forbid_code(made)
    return made


def forbid_code(named: NamedGrader) -> None:
    """Raise ConfigError for a grader that would run code, or that has one inside."""
    for each in all_in(named):
        if each.grader.runs_code:
            raise ConfigError(describe_forbidden(each))


def describe_forbidden(named: NamedGrader) -> str:
    return f"grader `{named.name}` would run code, and --no-exec forbids that"


def all_in(named: NamedGrader) -> Iterator[NamedGrader]:
    yield named
    for each in named.grader.inner():
        yield from all_in(each)


def runs_code(named: NamedGrader) -> bool:
    """Whether a grader, or one inside of it, would start a process or import code."""
    return any(each.grader.runs_code for each in all_in(named))


def is_ours(named: NamedGrader) -> bool:
    """Whether a grader, with those inside of it, is a part of evalcase and calls no other code."""
    return not runs_code(named) and all(is_own_class(type(each.grader)) for each in all_in(named))


@lru_cache
def is_light_class(made_by: type[Grader]) -> bool:
    """Whether graders of a class are their options, and nothing else. Verdicts of one that is no
    part of evalcase rest on its code as well."""
    hooks = ("load", "close", "inner", "fingerprint", "sources", "modules")
    is_light = all(getattr(made_by, name) is getattr(Grader, name) for name in hooks)
    return is_light and is_own_class(made_by)
