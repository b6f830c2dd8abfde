"""The graders of a run, each made once, however many cases say the same of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from evalcase.errors import ConfigError
from evalcase.grade.apply import SameText, left_to_compare
from evalcase.graders.expected import ExpectedGrader
from evalcase.model.case import GRADED_BY_MORE, Case
from evalcase.model.grader import BOTH, Grader, NamedGrader
from evalcase.model.json_value import JSON
from evalcase.model.option import made_of, options_of
from evalcase.model.quick_dataclass import replace
from evalcase.model.target import Surroundings
from evalcase.plugins.registry import find_class
from evalcase.project.config import Config
from evalcase.text.plain_json import copy_json
from evalcase.text.quick_json import compact_encoder

if TYPE_CHECKING:
    # Where cases are compared with what they expect, and no more, no grader has to be made.
    from evalcase.model.grader_options import DeclaredGrader
    from evalcase.plugins.grader_loading import CaseFault

Defaults: TypeAlias = Mapping[str, Mapping[str, JSON]]
"""Options by kinds of graders."""
_NO_DEFAULTS: Defaults = MappingProxyType({})


def _ignore(_: str) -> None:
    """Take a warning that nobody wants to see."""


NOWHERE = Surroundings(".", {}, _ignore)


class Graders:
    """Gives the graders of a case. `given` are those that a program adds to every case."""

    def __init__(
        self,
        given: Iterable[NamedGrader] = (),
        surroundings: Surroundings = NOWHERE,
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
        whole = NamedGrader("expected", ExpectedGrader())
        self._comparisons = {BOTH: whole} | {
            frozenset({half}): NamedGrader("expected", ExpectedGrader(frozenset({half})))
            for half in BOTH
        }
        self._wanted: dict[str, tuple[str, str]] = {}
        self.only_expected = (whole,)
        """The built-in comparison alone, which most cases have. It asks nobody."""
        self.same_text = SameText(whole)
        self._made: dict[str, tuple[NamedGrader, ...]] = {}
        self._prints: dict[int, str] = {}

    def want(self, suite: str, case: Case) -> None:
        """Note what a case will ask for. Nothing is made, or imported, before `make_ready`."""
        specs = case.data.get("graders")
        if specs and not self.only_given:
            self._wanted.setdefault(_to_json(specs), (suite, case.id))

    def make_ready(self) -> list[CaseFault]:
        """Make all that is wanted: nobody wants to know after the first answers that a grader
        can't be used. What keeps one of a case from being made is returned, all of it. Raise
        ConfigError for one that is given."""
        for named in self.given:
            if self._no_exec and self.only_given:
                from evalcase.plugins.grader_loading import forbid_code

                forbid_code(named)  # it was typed, and is no function that a program holds
            named.grader.load(self._surroundings)
        return self._make_wanted() if self._wanted else []

    def _make_wanted(self) -> list[CaseFault]:
        from evalcase.plugins.grader_loading import CaseFault, Unloaded, UnloadedError

        faults: list[CaseFault] = []
        for text, (suite, case) in self._wanted.items():
            try:
                self._made[text] = self._make(json.loads(text))
            except UnloadedError as error:
                faults += [CaseFault(suite, case, each) for each in error.faults]
            except ConfigError as error:
                faults.append(CaseFault(suite, case, Unloaded(str(error))))
        self._wanted.clear()
        return faults

    @property
    def may_ask(self) -> bool:
        """Whether there is a grader beside the built-in comparison, which might ask a target."""
        return bool(self.given or self._made)

    def of(self, case: Case, *, is_plain: bool = False) -> Sequence[NamedGrader]:
        """The graders of a case, the built-in comparison added where nothing else compares. One
        that is plain is known to expect a text, and to say nothing of graders."""
        if is_plain and not self.given and not self.only_given:
            return self.only_expected
        return self.given if self.only_given else self._of(case, self.given)

    def of_turn(self, turn: Case) -> Sequence[NamedGrader]:
        """The same for one turn of a case. What a program adds to a case grades the whole of it."""
        return () if self.only_given else self._of(turn, ())

    def of_all(self, case: Case) -> Sequence[NamedGrader]:
        """Those of a case and of its turns."""
        if "turns" not in case.data:
            return self.of(case)
        of_turns = [named for turn in case.turns for named in self.of_turn(turn)]
        return (*self.of(case), *of_turns)

    def prints_for(self, case: Case) -> Sequence[str]:
        """The fingerprints of the graders of a case and of its turns that have one."""
        if not self.given and GRADED_BY_MORE.isdisjoint(case.data):
            return ()  # the built-in comparison, as most cases have, is a part of evalcase
        return self.prints_of(self.of_all(case))

    def _of(self, case: Case, given: tuple[NamedGrader, ...]) -> Sequence[NamedGrader]:
        graders, data = given, case.data
        if not graders and "expected_output" in data and GRADED_BY_MORE.isdisjoint(data):
            return self.only_expected  # most cases are like this
        specs = data.get("graders")
        if specs:
            text = _to_json(specs)
            made = self._made.get(text)
            if made is None:
                made = self._made[text] = self._make(specs)
            graders = (*made, *graders)
        if case.needs_judge and self._judges and not any(named.judges for named in graders):
            is_only = all(named.name != self._case_judge.name for named in graders)
            graders = (*graders, self._case_judge if is_only else self._second_judge)
        left = left_to_compare(case, graders)
        return (*graders, self._comparisons[left]) if left else graders

    @property
    def _judges(self) -> bool:
        return self._config is not None and self._config.judge is not None

    @cached_property
    def _case_judge(self) -> NamedGrader:
        """The judge of what cases say themselves, by `criteria` and `rubrics`."""
        return make_grader({"type": "judge"}, self._defaults)

    @cached_property
    def _second_judge(self) -> NamedGrader:
        """The same beside a judge of the case's graders: who reads results tells them apart."""
        return replace(self._case_judge, name="criteria")

    @cached_property
    def _defaults(self) -> Defaults:
        return defaults_of(self._config) if self._config is not None else {}

    def prints_of(self, graders: Sequence[NamedGrader]) -> list[str]:
        """The fingerprints of those graders that have one."""
        if graders is self.only_expected:
            return []
        return [found for named in graders if (found := self._print(named))]

    def _print(self, named: NamedGrader) -> str:
        # By what it is, not by what it says: an option may hold what has no hash.
        known = self._prints.get(id(named))
        if known is None:
            known = self._prints[id(named)] = self._print_with_targets(named)
        return known

    def _print_with_targets(self, named: NamedGrader) -> str:
        """Another judge may come to another verdict: who is asked is a part of it."""
        tables = self._config.targets if self._config is not None else {}
        asked = [tables.get(name, name) for name in named.grader.asks()]
        print = named.grader.fingerprint()
        if self.only_given:
            return f"{named!r} {print}"  # no case says what they are
        return f"{print} {_to_json(copy_json(asked))}" if asked else print

    def _make(self, specs: Iterable[Mapping[str, JSON]]) -> tuple[NamedGrader, ...]:
        """Make them, and have them ready."""
        from evalcase.plugins.grader_loading import load_graders

        made = _number_judges([make_grader(spec, self._defaults) for spec in specs])
        load_graders(made, self._surroundings, self._no_exec)
        return made

    async def close(self) -> None:
        """Have every grader let go of what it holds."""
        for named in (*self.given, *[named for made in self._made.values() for named in made]):
            await named.grader.close()


def _number_judges(graders: Sequence[NamedGrader]) -> tuple[NamedGrader, ...]:
    """The same, with a number behind the name of each judge that another has before it."""
    seen: dict[str, int] = {}
    named = []
    for each in graders:
        if each.grader.kind.judges:
            number = seen[each.name] = seen.get(each.name, 0) + 1
            each = replace(each, name=f"{each.name} {number}") if number > 1 else each  # noqa: PLW2901
        named.append(each)
    return tuple(named)


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
    kind = type(named.grader)
    is_own = kind.__module__.startswith("evalcase.graders.") and not named.grader.kind.runs_code
    return is_own and all(map(is_ours, named.grader.inner()))


def make_grader(spec: Mapping[str, JSON], defaults: Defaults = _NO_DEFAULTS) -> NamedGrader:
    """A grader of its canonical form `{type, …}`, with those inside of it.

    `defaults` are options of kinds that the configuration gives, for those that are not said.
    Raise ConfigError with everything that is wrong with its options.
    """
    from evalcase.model.grader_options import declared_grader

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
    from evalcase.model.grader_options import SharedOptions

    faults = [
        each.message if each.hint is None else f"{each.message}: {each.hint}"
        for each in declared.faults(options)
    ]
    if faults:
        raise ConfigError("; ".join(faults))
    named_by = options.get(declared.in_name or "")
    # There may be several, and a person wants to know which of them failed.
    name = f"{declared.kind.name}:{named_by}" if named_by else declared.kind.name
    counted: SharedOptions = made_of(SharedOptions, _part(options, declared.shared))
    options = _with_defaults(options, defaults.get(declared.kind.name, {}))
    grader: Grader = made_of(declared.made_by, _with_inner(declared, options, defaults))
    threshold = counted.threshold if options.get("threshold") is not None else None
    return NamedGrader(
        counted.name or name, grader, counted.weight, counted.required, threshold,
        counted.negated, counted.timeout_s, counted.path,
    )  # fmt: skip


def _with_defaults(options: Mapping[str, JSON], given: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The options with what is not said of them. Whoever names judges needs no other."""
    said = {name for name, value in options.items() if value is not None}
    unsaid = {name: each for name, each in given.items() if name not in said}
    if "panel" in said:
        unsaid.pop("target", None)
        unsaid.pop("votes", None)
    return {**options, **unsaid} if unsaid else options


def _with_inner(
    declared: DeclaredGrader, options: Mapping[str, JSON], defaults: Defaults
) -> dict[str, object]:
    """The options of its own, with graders made of those that are lists of them."""
    own: dict[str, object] = dict(_part(options, options_of(declared.made_by)))
    for name in declared.lists:
        specs = own.get(name)
        if isinstance(specs, list):
            own[name] = [make_grader(each, defaults) for each in specs]
    return own


def _part(options: Mapping[str, JSON], names: Iterable[str]) -> dict[str, JSON]:
    return {name: options[name] for name in names if name in options}


_to_json = compact_encoder()
