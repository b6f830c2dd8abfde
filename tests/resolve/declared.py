"""Graders that are declared for tests: every shape that an option may have, and inner graders."""

from __future__ import annotations

from typing import Any, ClassVar

from evalcase.model.finding import Unfit
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.grader_options import DeclaredGrader, declared_grader
from evalcase.model.known import What
from evalcase.model.option import option, with_options
from evalcase.model.shape import Anything, Choice, Flag, ListOf, Number, Text
from evalcase.model.shape_names import GraderList
from evalcase.model.shape_one_of import OneOf
from evalcase.plugins.known import Existing
from evalcase.plugins.schemas import declared_graders


class NeverAsked(Grader):
    """What is only declared, and grades nothing."""

    def grade(self, context: Context) -> Score:
        raise NotImplementedError


@with_options
class Equals(NeverAsked):
    kind: ClassVar[GraderKind] = GraderKind(
        "equals", "The answer is a value.", "value", takes_mapping=True
    )

    value: Any = option(Anything(), "What is compared with.", default=None)


@with_options
class Has(NeverAsked):
    kind: ClassVar[GraderKind] = GraderKind(
        "has", "The answer has a text.", "value", example="- has: Lima"
    )

    value: Any = option(OneOf((Text(), ListOf(Text(), "a list of texts"))), "What it has.")
    ignore_case: bool = option(Flag(), "Whether case doesn't matter.", default=False)
    unit: str = option(Choice(("words", "lines")), "Where it is.", default="words")


@with_options
class Size(NeverAsked):
    kind: ClassVar[GraderKind] = GraderKind("size", "The answer is that long.")

    min: int = option(Number(0, whole=True), "The least.", default=0, elsewhere=("at_least",))
    max: int = option(Number(0, whole=True), "The most.", default=9)


@with_options
class Every(NeverAsked):
    kind: ClassVar[GraderKind] = GraderKind("every", "All pass.", "value")

    value: Any = option(GraderList(), "The graders.")


@with_options
class AtLeast(NeverAsked):
    kind: ClassVar[GraderKind] = GraderKind("some", "Enough of them pass.")

    count: int = option(Number(1, whole=True), "How many.")
    of: Any = option(GraderList(), "The graders.")


@with_options
class Mean(NeverAsked):
    kind: ClassVar[GraderKind] = GraderKind(
        "mean", "The weighted mean is enough.", "value", needs=("threshold",)
    )

    value: Any = option(GraderList(), "The graders.")


# Of the built-in ones those whose faults a schema can tell. Others have patterns, paths and limits
# that have to go with each other: `tests/graders/test_tables.py` holds the schema to them.
_TOLD_BY_SCHEMA = ("expected", "python", "all", "any", "at_least", "weighted")

GRADERS: list[DeclaredGrader] = [
    *[each for each in declared_graders() if each.kind.name in _TOLD_BY_SCHEMA],
    *map(declared_grader, (Equals, Has, Size, Every, AtLeast, Mean)),
]


class Declared(Existing):
    """Knows these graders and the built-in ones; others are objected to."""

    def grader(self, name: str) -> DeclaredGrader | None:
        return next((each for each in GRADERS if each.kind.name == name), None)

    def object_to(self, what: What, name: str) -> Unfit | None:
        return Unfit("unknown-grader", f"there is no `{name}`") if what == "grader" else None


KNOWN = Declared()
