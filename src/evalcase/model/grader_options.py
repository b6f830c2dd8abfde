"""The options that every grader has, and what is known of a grader before one is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass
from functools import lru_cache
from typing import NamedTuple

from evalcase.model.case import Case
from evalcase.model.finding import KeyPath
from evalcase.model.grader import NEITHER, Grader, GraderKind, Half
from evalcase.model.json_value import JSON
from evalcase.model.option import Option, faults_of, made_of, option, options_of
from evalcase.model.shape import Flag, ListOf, Number, OptionFault, Shape, Text
from evalcase.model.shape_names import Argv, FileName, GraderList, PathText, Reference, TargetName
from evalcase.model.shape_seconds import Seconds
from evalcase.model.value import replace


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """How a grader counts in its case. None has to know them, and each can be told them."""

    name: str | None = option(
        Text("a name"), "Its name in results; by default, its type.", default=None
    )
    weight: float = option(
        Number(0), "How much it counts in the weighted mean.", default=1.0, example=2
    )
    required: bool = option(
        Flag(), "Whether it must pass, regardless of the weighted mean.", default=False
    )
    threshold: float = option(
        Number(0, 1), "The score at which it passes.", default=1.0, example=0.8,
        elsewhere=("min_score", "pass_threshold"),
    )  # fmt: skip
    timeout_s: float | None = option(
        Seconds(), "Its time limit, in seconds.", default=None, example=30,
        elsewhere=("timeout", "time_limit"),
    )  # fmt: skip
    negated: bool = option(
        Flag(), "Whether to invert it: passed becomes failed, and the score 1 minus the score.",
        default=False, name="not", elsewhere=("negate", "inverse"),
    )  # fmt: skip
    path: str | None = option(
        PathText(), "The part of the answer to grade, as a path in its JSON.",
        default=None, example="items.0.name", elsewhere=("jsonpath", "json_path", "field"),
    )  # fmt: skip


SHARED = options_of(SharedOptions)
_PASSES_BY_NAME = "it passes as its name says; a mean with a threshold is `weighted`"


class DeclaredGrader(NamedTuple):
    """A kind of grader, its class, and the options of both."""

    kind: GraderKind
    made_by: type[Grader]
    shared: Mapping[str, Option]
    """The options of all graders, those marked as needed that this kind needs; `path` only where
    it is the text or the JSON of an answer that is graded."""
    lists: tuple[str, ...]
    """The options that hold other graders."""
    targets: tuple[str, ...]
    """The options that name targets, which the grader asks."""
    files: Mapping[str, Shape | None]
    """The options that name a file of the project, with what the JSON in it is."""
    code: tuple[str, ...]
    """The options that name a function."""
    programs: tuple[str, ...]
    """The options that hold a program and its arguments."""
    in_name: str | None
    """The option that a name with a colon gives, as in `python:module:function`."""

    def named_targets(self, values: Mapping[str, JSON]) -> list[tuple[KeyPath, str]]:
        """The targets that options name, each with its path seen from the grader."""
        found: list[tuple[KeyPath, str]] = []
        for name in self.targets:
            value = values.get(name)
            several: list[tuple[KeyPath, JSON]] = [((name,), value)]
            if isinstance(value, list):
                several = [((name, index), each) for index, each in enumerate(value)]
            found += [(path, each) for path, each in several if isinstance(each, str) and each]
        return found

    @property
    def options(self) -> dict[str, Option]:
        return {**options_of(self.made_by), **self.shared}

    def faults(self, values: Mapping[str, JSON]) -> Iterator[OptionFault]:
        """What is wrong with the options of one such grader, paths seen from the grader."""
        what = f"the grader `{self.kind.name}`"
        for fault in faults_of(self.made_by, values, what, beside=self.shared):
            is_undue = self.kind.decides and fault.path == ("threshold",)
            yield fault._replace(hint=_PASSES_BY_NAME) if is_undue else fault

    def compared(self, values: Mapping[str, JSON]) -> frozenset[Half] | None:
        """What of `expected_output` one with these options, which have no faults, compares with;
        None where only its code says so, which nobody imports just to know."""
        if self.kind.runs_code:
            return None
        return self.kind.compared if self._made_of(values).compares_expected() else NEITHER

    def missing_in(self, values: Mapping[str, JSON], case: Case) -> str | None:
        """What one with these options, which have no faults, needs and the case hasn't got."""
        if self.made_by.missing_in is Grader.missing_in or self.kind.runs_code:
            return None
        return self._made_of(values).missing_in(case)

    def judges_case(self, values: Mapping[str, JSON]) -> bool:
        """Whether one with these options, which have no faults, reads `criteria` and `rubrics`."""
        return self.kind.judges and self._made_of(values).judges_case()

    def _made_of(self, values: Mapping[str, JSON]) -> Grader:
        own = {name: values[name] for name in options_of(self.made_by) if name in values}
        grader: Grader = made_of(self.made_by, own)
        return grader


@lru_cache(maxsize=256)
def declared_grader(made_by: type[Grader]) -> DeclaredGrader:
    """What a class says of its graders."""
    kind = made_by.kind
    needed = {name: replace(SHARED[name], default=MISSING) for name in kind.needs}
    own = options_of(made_by)
    lists = tuple(name for name, each in own.items() if isinstance(each.shape, GraderList))
    targets = tuple(name for name, each in own.items() if _names_targets(each.shape))
    unfit = {*own, *(("path",) if kind.reads is None else ())}
    unfit |= {"threshold"} if kind.decides else set()
    shared = {name: each for name, each in {**SHARED, **needed}.items() if name not in unfit}
    argument = own.get(kind.argument or "")
    is_named = argument is not None and isinstance(argument.shape, Reference)
    in_name = kind.argument if is_named else None
    files = {
        name: each.shape.holds for name, each in own.items() if isinstance(each.shape, FileName)
    }
    code = tuple(name for name, each in own.items() if isinstance(each.shape, Reference))
    programs = tuple(name for name, each in own.items() if isinstance(each.shape, Argv))
    return DeclaredGrader(kind, made_by, shared, lists, targets, files, code, programs, in_name)


def _names_targets(shape: Shape) -> bool:
    return isinstance(shape.item if isinstance(shape, ListOf) else shape, TargetName)
