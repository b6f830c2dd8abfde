"""The graders of a run, each made once, however many cases say the same of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from evalcase.errors import ConfigError
from evalcase.grade.apply import left_to_compare
from evalcase.graders.expected import ExpectedGrader
from evalcase.model.case import GRADED_BY_MORE, Case
from evalcase.model.grader import BOTH, Grader, NamedGrader
from evalcase.model.json_value import JSON
from evalcase.model.target import Surroundings
from evalcase.model.value import replace
from evalcase.plugins.registry import find_class, is_built_in, is_own_class
from evalcase.project.config import Config
from evalcase.text.quick_json import compact_encoder

if TYPE_CHECKING:
    # Where cases are compared with what they expect, and no more, no grader has to be made.
    from evalcase.plugins.grader_basis import GraderBasis
    from evalcase.plugins.grader_loading import CaseFault
    from evalcase.plugins.grader_making import Defaults

_RECENT = 500
_SEEN_BY_CODE = ("description", "tags", "vars")
"""Fields of a case by which nothing of evalcase's own grades."""


def _ignore_warning(_: str) -> None:
    """Take a warning that nobody wants to see."""


NO_SURROUNDINGS = Surroundings(".", {}, _ignore_warning, lambda: 0.0)


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
        whole = NamedGrader("expected", ExpectedGrader())
        self._comparisons = {BOTH: whole} | {
            frozenset({half}): NamedGrader("expected", ExpectedGrader(frozenset({half})))
            for half in BOTH
        }
        self._wanted: dict[str, tuple[str, str]] = {}
        self._needs_judge = False
        self.only_expected = (whole,)
        """The built-in comparison alone, which most cases have. It asks nobody."""
        self._made: dict[str, NamedGrader] = {}
        """Each that may hold something, by what cases say of it: made once, and kept."""
        self._numbered: dict[tuple[int, str], NamedGrader] = {}
        """Judges among these under another name, which they have beside others of their name."""
        self._recent: dict[str, tuple[NamedGrader, ...]] = {}
        """All of a case, by what it says of them. Those among them that hold nothing are soon made
        again, so that each of a million cases may have its own."""
        self._closing: dict[type, NamedGrader] = {}
        """One of each class of these, to let go of what the class holds."""
        self._prints: dict[int, str] = {}

    def want(self, suite: str, case: Case) -> None:
        """Note what a case will ask for. Nothing is made, or imported, before `make_ready`."""
        specs = case._data.get("graders")
        self._needs_judge = self._needs_judge or (case.needs_judge and not self.only_given)
        # What is wrong with options was found when the suite was read: only what has to be loaded
        # can still turn out to be of no use.
        if specs and not self.only_given:
            for spec in specs:
                if not _is_light(spec):
                    self._wanted.setdefault(_to_json(spec), (suite, case.id))

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

    def find_forbidden(self) -> list[CaseFault]:
        """All that is wanted and would run code, with the first case that asks for it. Nothing is
        loaded for it."""
        from evalcase.plugins.grader_loading import CaseFault, find_forbidden
        from evalcase.plugins.grader_making import make_grader

        found: list[CaseFault] = []
        for text, (suite, case) in self._wanted.items():
            made = make_grader(json.loads(text), self._defaults)
            found += [CaseFault(suite, case, each) for each in find_forbidden(made)]
        return found

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
        if "turns" not in case._data:
            return self.of(case)
        of_turns = [named for turn in case.turns for named in self.of_turn(turn)]
        return (*self.of(case), *of_turns)

    def prints_for(self, case: Case) -> Sequence[str]:
        """The fingerprints of the graders of a case and of its turns that have one."""
        if not self.given and GRADED_BY_MORE.isdisjoint(case._data):
            return ()  # the built-in comparison, as most cases have, is a part of evalcase
        return self.prints_of(self.of_all(case), case)

    def _of(self, case: Case, given: tuple[NamedGrader, ...]) -> Sequence[NamedGrader]:
        graders, data = given, case._data
        if not graders and "expected_output" in data and GRADED_BY_MORE.isdisjoint(data):
            return self.only_expected  # most cases are like this
        specs = data.get("graders")
        if specs:
            text = _to_json(specs)
            graders = (*(self._recent.get(text) or self._put_together(text, specs)), *graders)
        if case.needs_judge and self._judges and not any(named.judges for named in graders):
            is_only = all(named.name != self._case_judge.name for named in graders)
            graders = (*graders, self._case_judge if is_only else self._second_judge)
        left = left_to_compare(case, graders)
        return (*graders, self._comparisons[left]) if left else graders

    def _put_together(
        self, text: str, specs: Sequence[Mapping[str, JSON]]
    ) -> tuple[NamedGrader, ...]:
        """The graders of one case; for a while, those of the next may be the same."""
        if len(self._recent) >= _RECENT:
            self._recent.clear()
        made = self._recent[text] = self._number_judges(list(map(self._find, specs)))
        return made

    def _find(self, spec: Mapping[str, JSON]) -> NamedGrader:
        """One grader: the one that there is, unless it holds nothing and is as soon made again."""
        if _is_light(spec):
            named = self._make(spec)
            self._closing.setdefault(type(named.grader), named)
            return named
        text = _to_json(spec)
        if text not in self._made:
            self._made[text] = self._make(spec)
        return self._made[text]

    def _number_judges(self, graders: Sequence[NamedGrader]) -> tuple[NamedGrader, ...]:
        """The same, with a number behind the name of each judge that another has before it."""
        seen: dict[str, int] = {}
        named = []
        for each in graders:
            number = 1
            if each.grader.kind.judges:
                number = seen[each.name] = seen.get(each.name, 0) + 1
            named.append(each if number == 1 else self._rename(each, f"{each.name} {number}"))
        return tuple(named)

    def _rename(self, named: NamedGrader, name: str) -> NamedGrader:
        key = (id(named), name)
        if key not in self._numbered:
            self._numbered[key] = replace(named, name=name)
        return self._numbered[key]

    @property
    def _judges(self) -> bool:
        return self._config is not None and self._config.judge is not None

    @cached_property
    def _case_judge(self) -> NamedGrader:
        """The judge of what cases say themselves, by `criteria` and `rubrics`."""
        from evalcase.plugins.grader_making import make_grader

        return make_grader({"type": "judge"}, self._defaults)

    @cached_property
    def _second_judge(self) -> NamedGrader:
        """The same beside a judge of the case's graders: who reads results tells them apart."""
        return replace(self._case_judge, name="criteria")

    @cached_property
    def _defaults(self) -> Defaults:
        from evalcase.plugins.grader_making import defaults_of

        return defaults_of(self._config) if self._config is not None else {}

    def prints_of(self, graders: Sequence[NamedGrader], case: Case) -> list[str]:
        """The fingerprints of those graders that have one; and what else of the case code may
        look at, where one of them is code."""
        if graders is self.only_expected:
            return []
        prints = [found for named in graders if (found := self._print(named))]
        seen = {name: case._data[name] for name in _SEEN_BY_CODE if name in case._data}
        if prints and seen:
            from evalcase.plugins.grader_making import is_ours

            return prints if all(map(is_ours, graders)) else [*prints, _to_json(seen)]
        return prints

    def _print(self, named: NamedGrader) -> str:
        if is_light_class(type(named.grader)) and not self.only_given:
            return ""
        # By what it is, not by what it says: an option may hold what has no hash. It is never let
        # go of, so that no other can take its place in memory.
        known = self._prints.get(id(named))
        if known is None:
            known = self._prints[id(named)] = self._print_with_targets(named)
        return known

    def _print_with_targets(self, named: NamedGrader) -> str:
        """Another judge may come to another verdict: who is asked is a part of it."""
        print = self._basis.print_of(named)
        return f"{named!r} {print}" if self.only_given else print  # no case says what they are

    def rests_on(self) -> dict[str, str]:
        """What the verdicts of a run rest on beside its cases and answers, by names for people,
        with the hash of each: files that graders are made of, and targets that they ask."""
        judge = [self._case_judge] if self._needs_judge and self._judges else []
        graders = (*self.given, *self._made.values(), *judge)
        return self._basis.find(graders) if graders else {}

    @cached_property
    def _basis(self) -> GraderBasis:
        from evalcase.plugins.grader_basis import GraderBasis

        return GraderBasis(self._config, self._surroundings, no_exec=self._no_exec)

    def _make(self, spec: Mapping[str, JSON]) -> NamedGrader:
        """Make one, and have it ready."""
        from evalcase.plugins.grader_loading import load_graders
        from evalcase.plugins.grader_making import make_grader

        made = make_grader(spec, self._defaults)
        load_graders([made], self._surroundings, self._no_exec)
        return made

    async def close(self) -> None:
        """Have every grader let go of what it holds."""
        from evalcase.system.closing import close_all

        every = (*self.given, *self._made.values(), *self._closing.values())
        await close_all(named.grader.close for named in every)


def _is_light(spec: Mapping[str, JSON]) -> bool:
    """Whether a grader is of a kind that is made quickly, and holds nothing."""
    word = str(spec["type"])
    return is_built_in("graders", word) and is_light_class(find_class("graders", word))


@lru_cache
def is_light_class(made_by: type[Grader]) -> bool:
    """Whether graders of a class are their options, and nothing else. Verdicts of one that is no
    part of evalcase rest on its code as well."""
    return made_by.kind.light and is_own_class("graders", made_by, made_by.kind.name)


_to_json = compact_encoder()
