"""The graders of a run: made once, loaded before the first question, handed to cases; and what
their verdicts rest on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from typing import NamedTuple

from evalcase.config.config import Config
from evalcase.config.graders import (
    NO_SURROUNDINGS,
    all_in,
    describe_forbidden,
    forbid_code,
    is_light_class,
    is_ours,
    make_grader,
)
from evalcase.config.registry import find_class, search_class
from evalcase.config.targets import make_target, version_of
from evalcase.errors import ConfigError
from evalcase.format.graders import find_named_code
from evalcase.graders.base import Grader, Half, NamedGrader, What, declared_grader
from evalcase.runner.grading import left_to_compare
from evalcase.types.case import Case
from evalcase.types.read_options import fields_of
from evalcase.types.target import Surroundings, Target, TargetVersion
from evalcase.types.value import JSON, replace
from evalcase.util.code import sources_of_module
from evalcase.util.json import compact_encoder
from evalcase.util.user_calls import close_all

_RECENT = 500
_SEEN_BY_CODE = ("description", "tags", "vars")
"""Fields of a case that only code of others grades by."""
_to_json = compact_encoder()


# Graders that can't be used


class GraderFault(NamedTuple):
    """Why a grader can't be used."""

    message: str
    what: What | None = None
    """What of it a suite mentions by a name, where that is at fault."""
    name: str = ""
    suite: str = ""
    case: str = ""
    """The first case that asks for it."""


def _load_grader(named: NamedGrader, around: Surroundings) -> list[GraderFault]:
    """Have a grader ready. Return all reasons why it, or those inside of it, can't be."""
    try:
        named.grader.load(around)
    except ConfigError as error:
        # A grader stops at the first of those inside of it.
        inner = [fault for each in named.grader.inner() for fault in _load_grader(each, around)]
        return inner or [_make_fault(named, str(error))]
    return []


def _make_fault(named: NamedGrader, message: str) -> GraderFault:
    declared = declared_grader(type(named.grader))
    options = {
        name: getattr(named.grader, name)
        for name in (*declared.naming("function"), *declared.naming("program"))
    }
    for what, name, _ in find_named_code(declared, options):
        return GraderFault(message, what, name)
    return GraderFault(message)


# The graders of a run


@cache
def _comparison(left: frozenset[Half]) -> NamedGrader:
    """The built-in comparison with what is left of `expected_output`."""
    return NamedGrader("expected", find_class("graders", "expected")(left))


class Graders:
    """Gives the graders of a case. `given` are those that a program adds to every case."""

    def __init__(
        self,
        given: Iterable[NamedGrader] = (),
        surroundings: Surroundings = NO_SURROUNDINGS,
        *,
        config: Config | None = None,
        no_exec: bool = False,
        only_given: bool = False,
    ) -> None:
        self.given = tuple(given)
        self.only_given = only_given
        self._config = config
        self._surroundings = surroundings
        self._no_exec = no_exec
        self._wanted: dict[str, tuple[str, str]] = {}
        self._needs_judge = False
        self._made: dict[str, NamedGrader] = {}
        """Graders that may hold something, by their specs. Each is made once. The others are made
        again, so that each of a million cases may have its own."""
        self._of_specs = lru_cache(_RECENT)(self._make_all)
        self._prints: dict[int, str] = {}
        self._version_of_target = cache(self._find_version)
        self._sources_of_module = cache(sources_of_module)

    def want(self, suite: str, case: Case) -> None:
        """Note what a case will ask for. Nothing is made, or imported, before `make_ready`."""
        self._needs_judge = self._needs_judge or case.needs_judge
        # Options were checked when the suite was read: only what has to be loaded can fail.
        for spec in case._data.get("graders", ()):
            if not _is_light(spec):
                self._wanted.setdefault(_to_json(spec), (suite, case.id))

    def find_forbidden(self) -> list[GraderFault]:
        """All that is wanted and would run code. Nothing is loaded for it."""
        return [
            _make_fault(each, describe_forbidden(each))._replace(suite=suite, case=case)
            for text, (suite, case) in self._wanted.items()
            for each in all_in(make_grader(json.loads(text), self._config))
            if each.grader.runs_code
        ]

    def make_ready(self) -> list[GraderFault]:
        """Make all that is wanted, before the first question. Return every reason why one of a
        case can't be used. Raise ConfigError for one that is given."""
        for named in self.given:
            if self._no_exec and self.only_given:
                forbid_code(named)  # a person typed it: it is no function that a program holds
            named.grader.load(self._surroundings)
        faults: list[GraderFault] = []
        for text, (suite, case) in self._wanted.items():
            try:
                made = make_grader(json.loads(text), self._config)
                found = self._load(made)
            except ConfigError as error:
                found = [GraderFault(str(error))]
            faults += [fault._replace(suite=suite, case=case) for fault in found]
            if not found:
                self._made[text] = made
        self._wanted.clear()
        return faults

    def _load(self, made: NamedGrader) -> list[GraderFault]:
        if self._no_exec:
            forbid_code(made)
        return _load_grader(made, self._surroundings)

    @property
    def may_ask(self) -> bool:
        """Whether there is a grader beside the built-in comparison, which might ask a target."""
        return bool(self.given or self._made)

    def of(self, case: Case, *, is_turn: bool = False) -> Sequence[NamedGrader]:
        """The graders of a case, the built-in comparison added where nothing else compares; or of
        one turn: what a program adds to a case grades the whole of it."""
        given = () if is_turn else self.given
        if self.only_given:
            return given
        specs = case._data.get("graders")
        graders = (*self._of_specs(_to_json(specs)), *given) if specs else given
        judge = self._case_judge
        if judge and case.needs_judge and not any(each.judges for each in graders):
            if any(each.name == judge.name for each in graders):
                judge = replace(judge, name="criteria")  # results tell the two apart
            graders = (*graders, judge)
        left = left_to_compare(case, graders)
        return (*graders, _comparison(left)) if left else graders

    def _make_all(self, specs: str) -> tuple[NamedGrader, ...]:
        """The graders of some specs. A judge has a number behind a name that it shares."""
        seen: dict[str, int] = {}
        graders = []
        for spec in json.loads(specs):
            named = self._make(spec)
            if named.grader.judges:
                number = seen[named.name] = seen.get(named.name, 0) + 1
                named = named if number == 1 else replace(named, name=f"{named.name} {number}")
            graders.append(named)
        return tuple(graders)

    def _make(self, spec: Mapping[str, JSON]) -> NamedGrader:
        text = _to_json(spec)
        if text in self._made:
            return self._made[text]
        made = make_grader(spec, self._config)
        faults = self._load(made)
        if faults:
            raise ConfigError("; ".join([each.message for each in faults]))
        if not _is_light(spec):
            self._made[text] = made
        return made

    @cached_property
    def _case_judge(self) -> NamedGrader | None:
        if self._config is None or self._config.judge is None:
            return None
        return make_grader({"type": "judge"}, self._config)

    def prints_for(self, case: Case, graders: Sequence[NamedGrader]) -> list[str]:
        """The fingerprints of the graders of a case, as `of` finds them, and of its turns that have
        one; and what else of the case code may look at, where one of them is code."""
        if "turns" in case._data:
            graders = [
                *graders,
                *[each for turn in case.turns for each in self.of(turn, is_turn=True)],
            ]
        prints = [text for each in graders if (text := self._print(each))]
        if prints and not all(map(is_ours, graders)):
            seen = {name: case._data[name] for name in _SEEN_BY_CODE if name in case._data}
            prints += [_to_json(seen)] if seen else []
        return prints

    def _print(self, named: NamedGrader) -> str:
        made_by = type(named.grader)
        asks_none = made_by.asks is Grader.asks or not named.grader.asks()
        if asks_none and is_light_class(made_by) and not self.only_given:
            return ""
        # By identity, because an option may have no hash: these graders are kept.
        key = id(named if self.only_given else named.grader)
        if key not in self._prints:
            own = [said for each in all_in(named) if (said := each.grader.fingerprint())]
            found = self._basis_of([named])
            text = sha256(repr((own, found)).encode()).hexdigest()[:16] if own or found else ""
            # No case says what graders there are that take the place of its own.
            self._prints[key] = f"{_describe(named)} {text}" if self.only_given else text
        return self._prints[key]

    def rests_on(self) -> dict[str, str]:
        """What the verdicts of a run rest on beside its cases and answers, by names for people,
        with the hash of each: files that graders are made of, and targets that they ask."""
        judge = self._case_judge if self._needs_judge else None
        graders = (*self.given, *self._made.values(), *([judge] if judge is not None else []))
        return self._basis_of(graders)

    def _basis_of(self, graders: Iterable[NamedGrader]) -> dict[str, str]:
        found: dict[str, str] = {}
        for each in [inner for named in graders for inner in all_in(named)]:
            # An object that a program passes in may lack methods of Grader.
            is_whole = Grader in type(each.grader).__mro__
            modules = each.grader.modules() if is_whole else ()
            for module in (type(each.grader).__module__, *modules):
                found |= self._sources_of_module(module, self._surroundings.root)
            found |= each.grader.sources() if is_whole else {}
            for name in each.grader.asks():
                version = self._version_of_target(name)
                found[f"target `{name}`"] = f"{version.options} {version.code}".strip()
        return dict(sorted(found.items()))

    def _find_version(self, target: str) -> TargetVersion:
        if self._config is None:
            return version_of(None, None)
        made: Target | None = None
        with suppress(ConfigError):  # the run reports it when it asks the target
            made = make_target(target, self._config, self._surroundings, no_exec=self._no_exec)
        return version_of(made, self._config.targets.get(target))

    async def close(self) -> None:
        every = (*self.given, *self._made.values())
        await close_all(named.grader.close for named in every)


def _describe(named: NamedGrader) -> str:
    """What a grader, and those inside of it, were told. What they loaded is no part of it."""
    told: list[object] = []
    for each in all_in(named):
        declared = declared_grader(type(each.grader))
        own = fields_of(declared.kind).keys() - set(declared.naming("graders"))
        told += [(name, getattr(each, name)) for name in each.__struct_fields__ if name != "grader"]
        told += [(name, getattr(each.grader, name)) for name in sorted(own)]
    return repr(told)


def _is_light(spec: Mapping[str, JSON]) -> bool:
    word = str(spec["type"])
    kind = search_class("graders", word)
    if kind is None or not is_light_class(kind):
        return False
    return not declared_grader(kind).named_targets(spec)
