"""What a grader is: a class whose fields are its options, and whose one method judges.

class Shorter(Grader):
    kind = GraderKind("shorter", "The answer is shorter than a number of characters.", "value")

    value: Annotated[Count, about("How long an answer must not be.")]

    def grade(self, context: Context) -> Score:
        length = len(context.answer.text)
        return Score(float(length < self.value), f"{length} characters")
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, TypeGuard

from msgspec import NODEFAULT, Meta, Struct, field

from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.grade import Grade, Score, copy_answer, copy_grade, copy_question
from evalcase.types.message import Message
from evalcase.types.options import (
    Amount,
    JsonPath,
    Named,
    OptionFault,
    Seconds,
    Share,
    Text,
    about,
    of_kind,
)
from evalcase.types.problem import KeyPath, Unfit
from evalcase.types.question import Question
from evalcase.types.read_options import Option, fields_of, make, problems_in
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON, Value, copy_value, replace

Usable = Callable[[Answer], bool]
"""Says whether a grader can use an answer."""
Asker = Callable[[str, Sequence[Message], JSON, Usable | None], Awaitable[Answer]]
"""Asks a target of a name some messages, with a schema for its answer or None."""
GradeAll = Callable[[Sequence["NamedGrader"]], Awaitable[Sequence[Grade]]]
"""Has graders look at the same answer, each by its own limit."""


Half = Literal["calls", "content"]
"""What an `expected_output` may have: calls of tools, and text or data at the end."""
BOTH: frozenset[Half] = frozenset({"calls", "content"})
NEITHER: frozenset[Half] = frozenset()


class Part(NamedTuple):
    """What a `path` leads to in the JSON of an answer."""

    path: str
    value: JSON


class Context(Value, frozen=True):
    """All that a grader sees of one trial."""

    case: Case
    question: Question
    answer: Answer
    grades: tuple[Grade, ...] = ()
    """Of the graders before this one: of all of them, if it `reads_grades`."""
    asker: Asker | None = None
    grading: GradeAll | None = None
    duration_s: float | None = None
    """How long the target took to answer, as the engine measured it."""
    turns: int = 1
    """How many turns the answer has: one, but for a whole conversation."""
    part: Part | None = None
    """What is graded in place of the whole answer, where the grader was told a `path`."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said: what was asked, and the answer; of a conversation, every turn."""
        return (*self.question.messages, *self.answer.messages)

    @property
    def text(self) -> str:
        """The text that is graded: of the answer, or of the part of it that a `path` leads to."""
        if self.part is None:
            return self.answer.text
        value = self.part.value
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def copy(self) -> Context:
        """The same for user code, which may write into it."""
        part = None if self.part is None else Part(self.part.path, copy_value(self.part.value))
        return replace(
            self, question=copy_question(self.question), answer=copy_answer(self.answer),
            grades=tuple([copy_grade(grade) for grade in self.grades]), part=part,
        )  # fmt: skip

    async def ask(
        self,
        target: str,
        messages: Sequence[Message | Mapping[str, object]],
        schema: JSON = None,
        usable: Usable | None = None,
    ) -> Answer:
        """Ask a target of the configuration. Mappings with `role` and `content` are messages, too.

        An answer that is not `usable` is returned, and never cached. Raise TargetError if the
        target can't answer, after the retries that every question has.
        """
        if self.asker is None:
            raise RuntimeError("`ask` needs targets, and this context has none")
        said = [
            each if isinstance(each, Message) else Message(copy_value(each)) for each in messages
        ]
        looks_at = None if usable is None else lambda answer: usable(copy_answer(answer))
        return await self.asker(target, said, schema, looks_at)

    async def grade_with(self, graders: Sequence[NamedGrader]) -> Sequence[Grade]:
        """The grades that others give the same answer: for graders that are made of graders."""
        if self.grading is None:
            raise RuntimeError("`grade_with` is for graders whose kind says `combines`")
        return await self.grading(graders)


class GraderKind(Value, frozen=True):
    """What is known of a kind of grader before one is made."""

    name: str
    about: str
    """A sentence for people: when it passes."""
    argument: str | None = None
    """The option that `{name: argument}` gives; None if it takes none."""
    needs: tuple[str, ...] = ()
    """Options of every grader that this kind can't do without, such as `threshold`."""
    takes_mapping: bool = False
    """Whether its argument may be a mapping: then `{name: {…}}` gives that, and no options."""
    reads: Literal["text", "value", "either"] | None = None
    """Whether it grades the text or the JSON of the answer: then it takes a `path`."""
    measures: bool = False
    """Whether it reads only figures of the trial, such as time and cost. Other graders can't grade
    an answer whose end is missing."""
    grades_blocked: bool = False
    """Whether it can grade an answer that the provider blocked."""
    compares_expected: bool = False
    """Whether it compares with `expected_output`, in place of the built-in comparison."""
    half: Half | None = None
    """The half of `expected_output` that it compares with, if not all of it. The built-in
    comparison does the rest."""
    judges: bool = False
    """Whether it asks a judge, by default about the `criteria` and `rubrics` of the case."""
    runs_code: bool = False
    """Whether it starts a process or imports code, which --no-exec forbids."""
    decides: bool = False
    """Whether its name says when it passes, so that it has no `threshold`."""
    combines: bool = False
    """Whether it is made of other graders."""
    example: str = ""
    """YAML that shows it."""
    only_reads: bool = False
    """Whether it never changes its context, so that it needs no copy."""
    light: bool = False
    """Whether it loads, holds and asks nothing, so that each of many cases can have its own."""

    @property
    def compared(self) -> frozenset[Half]:
        """What of `expected_output` it compares with, if it does."""
        return BOTH if self.half is None else frozenset({self.half})


class Grader(Struct, dict=True, weakref=True):
    """Says how good an answer is. One object grades many trials."""

    kind: ClassVar[GraderKind]

    def load(self, surroundings: Surroundings) -> None:
        """Get ready, before the first answer: import what it names. Raise ConfigError."""
        del surroundings

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        """A score, or something to wait for."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        """What decides a score beside options, `sources` and `modules`. Where any of these change,
        answers are graded again."""
        return ""

    def sources(self) -> Mapping[str, str]:
        """The files that decide its scores, with the hash of each."""
        return {}

    def modules(self) -> Iterable[str]:
        """The Python modules that decide its scores, beside that of its class."""
        return ()

    def inner(self) -> tuple[NamedGrader, ...]:
        """The graders that it is made of."""
        return ()

    def compares_expected(self) -> bool:
        """Whether it compares with `expected_output`: some do where nothing else is given."""
        return self.kind.compares_expected

    def judges_case(self) -> bool:
        """Whether it reads the `criteria` and `rubrics` of the case."""
        return self.kind.judges

    def reads_grades(self) -> bool:
        """Whether it reads the grades of those before it, and starts once they are done."""
        return False

    def accepts_silence(self) -> bool:
        """Whether an empty text can pass. Other graders of texts fail it, also with `not`."""
        return False

    def missing_in(self, case: Case) -> str | None:
        """What it can't do without and the case hasn't got, in words; None if it has all."""
        del case
        return None

    def asks(self) -> tuple[str, ...]:
        """The names of the targets that it asks, as far as it knows them before."""
        return tuple(name for each in self.inner() for name in each.grader.asks())

    async def close(self) -> None:
        """Release what it holds, such as processes, once all answers are graded."""
        return


def is_grader(value: object) -> TypeGuard[Grader]:
    """Whether an object is a grader: it has a kind of graders. A class is none yet."""
    return not isinstance(value, type) and isinstance(getattr(value, "kind", None), GraderKind)


class NamedGrader(Value, frozen=True):
    """A grader as a case uses it: what it is called there, how much it counts, when it passes."""

    name: str
    grader: Grader
    weight: float = 1.0
    required: bool = False
    threshold: float | None = None
    """The score at which it passes. Where none is given, the grader says so itself, or it is 1."""
    negated: bool = False
    """`not: true`: passed and failed change places, and the score becomes 1 - score."""
    timeout_s: float | None = None
    path: str | None = None
    """Where in the JSON of the answer is what it grades."""

    @property
    def needed_score(self) -> float:
        return 1.0 if self.threshold is None else self.threshold

    @property
    def compared(self) -> frozenset[Half]:
        """The halves of `expected_output` that it, or one inside of it, compares with."""
        own = self.grader.kind.compared if self.grader.compares_expected() else NEITHER
        inner = self.grader.inner()
        return own.union(*[each.compared for each in inner]) if inner else own

    @property
    def judges(self) -> bool:
        return self.grader.judges_case() or any(each.judges for each in self.grader.inner())


Graders = Annotated[
    tuple[NamedGrader, ...],
    Meta(min_length=1),
    # The caller checks the graders, and makes them before the list is read.
    of_kind(
        "a list of graders",
        written=list[Any],
        read=tuple,
        schema={"type": "array", "items": {"$ref": "#/$defs/grader"}, "minItems": 1},
        names="graders",
    ),
]
"""The option of a grader that is made of graders."""


class SharedOptions(Value, frozen=True):
    """How a grader counts in its case: options of every grader, which none has to know."""

    name: Annotated[
        Text | None, about("Its name in results; by default, its type.", words="a name")
    ] = None
    weight: Annotated[Amount, about("How much it counts in the weighted mean.", example=2)] = 1.0
    required: Annotated[bool, about("Whether it must pass, regardless of the weighted mean.")] = (
        False
    )
    threshold: Annotated[
        Share,
        about(
            "The score at which it passes.", example=0.8,
            elsewhere=("min_score", "pass_threshold"),
        ),
    ] = 1.0  # fmt: skip
    timeout_s: Annotated[
        Seconds | None,
        about("Its time limit, in seconds.", example=30, elsewhere=("timeout", "time_limit")),
    ] = None
    negated: Annotated[
        bool,
        about(
            "Whether to invert it: passed becomes failed, and the score 1 minus the score.",
            elsewhere=("negate", "inverse"),
        ),
    ] = field(name="not", default=False)
    path: Annotated[
        JsonPath | None,
        about(
            "The part of the answer to grade, as a path in its JSON.",
            example="items.0.name", elsewhere=("jsonpath", "json_path", "field"),
        ),
    ] = None  # fmt: skip


SHARED = fields_of(SharedOptions)
_PASSES_BY_NAME = "it passes as its name says; a mean with a threshold is `weighted`"


class DeclaredGrader(NamedTuple):
    """A kind of grader, its class, and the options of both."""

    kind: GraderKind
    made_by: type[Grader]
    shared: Mapping[str, Option]
    """The options of all graders that this kind has."""

    def naming(self, what: Named) -> list[str]:
        """Its options that name something, or that hold other graders."""
        return [name for name, each in fields_of(self.made_by).items() if each.names == what]

    @property
    def in_name(self) -> str | None:
        """The option that a name with a colon gives, as in `python:module:function`."""
        return self.kind.argument if self.kind.argument in self.naming("function") else None

    def named_targets(self, values: Mapping[str, JSON]) -> list[tuple[KeyPath, str]]:
        """The targets that options name, each with its path seen from the grader."""
        found: list[tuple[KeyPath, str]] = []
        for name in self.naming("target"):
            value = values.get(name)
            several: list[tuple[KeyPath, JSON]] = [((name,), value)]
            if isinstance(value, list):
                several = [((name, index), each) for index, each in enumerate(value)]
            found += [(path, each) for path, each in several if isinstance(each, str) and each]
        return found

    @property
    def options(self) -> dict[str, Option]:
        return {**fields_of(self.made_by), **self.shared}

    def faults(self, values: Mapping[str, JSON]) -> Iterator[OptionFault]:
        """What is wrong with the options of one such grader, paths seen from the grader."""
        what = f"the grader `{self.kind.name}`"
        for fault in problems_in(self.made_by, values, what, beside=self.shared):
            is_undue = self.kind.decides and fault.path == ("threshold",)
            yield fault._replace(hint=_PASSES_BY_NAME) if is_undue else fault

    def compared(self, values: Mapping[str, JSON]) -> frozenset[Half] | None:
        """What one with these sound options compares with; None where only its code says so."""
        if self.kind.runs_code:
            return None
        return self.kind.compared if self._made_of(values).compares_expected() else NEITHER

    def missing_in(self, values: Mapping[str, JSON], case: Case) -> str | None:
        """What one with these sound options needs and the case hasn't got."""
        if self.made_by.missing_in is Grader.missing_in or self.kind.runs_code:
            return None
        return self._made_of(values).missing_in(case)

    def judges_case(self, values: Mapping[str, JSON]) -> bool:
        """Whether one with these sound options reads `criteria` and `rubrics`."""
        return self.kind.judges and self._made_of(values).judges_case()

    def _made_of(self, values: Mapping[str, JSON]) -> Grader:
        own = {name: values[name] for name in fields_of(self.made_by) if name in values}
        return make(self.made_by, own)


@lru_cache(maxsize=256)
def declared_grader(made_by: type[Grader]) -> DeclaredGrader:
    """What a class says of its graders."""
    kind, own = made_by.kind, fields_of(made_by)
    needed = {name: replace(SHARED[name], default=NODEFAULT) for name in kind.needs}
    unfit = {*own, *(("path",) if kind.reads is None else ())}
    unfit |= {"threshold"} if kind.decides else set()
    shared = {name: each for name, each in {**SHARED, **needed}.items() if name not in unfit}
    return DeclaredGrader(kind, made_by, shared)


What = Literal["grader", "target", "asked", "judge", "code", "program", "script"]
"""What a suite names: `target` is what is tested, `asked` one that graders ask or that plays a
user, `code` a function that grades, `program` one that does, `script` the file that it runs."""


class Known(Protocol):
    """What is installed and configured. Objections and sentences are None where all is well."""

    def grader(self, name: str) -> DeclaredGrader | None: ...

    def object_to(self, what: What, name: str) -> Unfit | None: ...

    def object_to_call(self, function: str, arguments: Collection[str]) -> Unfit | None:
        """Why a function that grades can't be called with these arguments of its own."""
        ...

    def describe_same_user(self, user: str, target: str | None) -> str | None:
        """Says that the target that plays a user is tested; None is that of the configuration."""
        ...

    def describe_same_model(self, judge: str | None, target: str | None) -> str | None:
        """Says that a judge is the model that it judges; None is that of the configuration."""
        ...
