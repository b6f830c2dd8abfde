"""Graders that are declared for tests: every shape that an option may have, and inner graders."""

from typing import Annotated, Literal

from evalcase.config.catalogue import Catalogue, declared_graders
from evalcase.graders.base import Context, DeclaredGrader, Grader, Graders, What, declared_grader
from evalcase.types.grade import Score
from evalcase.types.options import Count, Text, Texts, Whole, about
from evalcase.types.problem import Finding
from evalcase.types.value import JSON


class NeverAsked(Grader):
    """What is only declared, and grades nothing."""

    def grade(self, context: Context) -> Score:
        raise NotImplementedError


class Equals(NeverAsked):
    name = "equals"
    description = "The answer is a value."
    argument = "value"

    value: Annotated[JSON, about("What is compared with.")] = None


class Has(NeverAsked):
    name = "has"
    description = "The answer has a text."
    argument = "value"
    example = "- has: Lima"

    value: Annotated[Text | Texts, about("What it has.")]
    ignore_case: Annotated[bool, about("Whether case doesn't matter.")] = False
    unit: Annotated[Literal["words", "lines"], about("Where it is.")] = "words"


class Size(NeverAsked):
    name = "size"
    description = "The answer is that long."

    min: Annotated[Whole, about("The least.", elsewhere=("at_least",))] = 0
    max: Annotated[Whole, about("The most.")] = 9


class Every(NeverAsked):
    name = "every"
    description = "All pass."
    argument = "value"

    value: Annotated[Graders, about("The graders.")]


class AtLeast(NeverAsked):
    name = "some"
    description = "Enough of them pass."

    count: Annotated[Count, about("How many.")]
    of: Annotated[Graders, about("The graders.")]


class Mean(NeverAsked):
    name = "mean"
    description = "The weighted mean is enough."
    argument = "value"
    threshold = "needed"

    value: Annotated[Graders, about("The graders.")]


# Of the built-in ones those whose faults a schema can tell. Others have patterns, paths and limits
# that have to go with each other: `tests/graders/test_tables.py` holds the schema to them.
_TOLD_BY_SCHEMA = ("expected", "python", "all", "any", "at_least", "weighted")

GRADERS: list[DeclaredGrader] = [
    *[each for each in declared_graders() if each.kind.name in _TOLD_BY_SCHEMA],
    *map(declared_grader, (Equals, Has, Size, Every, AtLeast, Mean)),
]


class Declared(Catalogue):
    """Knows these graders and the built-in ones; others are objected to."""

    def grader(self, name: str) -> DeclaredGrader | None:
        return next((each for each in GRADERS if each.kind.name == name), None)

    def object_to(self, what: What, name: str) -> Finding | None:
        return (
            Finding((), f"there is no `{name}`", code="unknown-grader")
            if what == "grader"
            else None
        )


KNOWN = Declared()
