"""What a grader is: a small class whose fields are its options, and whose one method judges.

@with_options
class Shorter(Grader):
    kind = GraderKind("shorter", "The answer is shorter than a number of characters.", "value")

    value: int = option(Number(1, whole=True), "How long an answer must not be.")

    def grade(self, context: Context) -> Score:
        length = len(context.answer.text)
        return Score(float(length < self.value), f"{length} characters")
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeGuard

from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.grade import Grade, Score
from evalcase.model.json_value import JSON, copy_value
from evalcase.model.message import ROLES, Message
from evalcase.model.own_copies import copy_answer, copy_grade, copy_question
from evalcase.model.question import Question
from evalcase.model.target import Surroundings
from evalcase.model.value import Value, replace

Usable = Callable[[Answer], bool]
"""Says whether an answer is of any use to who asked for it."""
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
    """Of the graders before this one that are done already: of all of them, if this one says that
    it reads them."""
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
        """The same for code that may write into what it is given: nobody else sees that."""
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
        """Ask a target of the configuration, through the same gate as every question.

        Mappings with a `role` and `content` are messages, too; raise TypeError for anything else.
        An answer that is not `usable` is returned, and never kept in the cache.
        Raise TargetError if it can't answer, after the retries that every question has.
        """
        if self.asker is None:
            raise RuntimeError("nobody can be asked here: this context has no targets")
        said = [_message_of(each) for each in messages]
        return await self.asker(target, said, schema, usable and partial(_look_at_copy, usable))

    async def grade_with(self, graders: Sequence[NamedGrader]) -> Sequence[Grade]:
        """The grades that others give the same answer: for graders that are made of graders."""
        if self.grading is None:
            raise RuntimeError(
                "nobody else grades here: the kind of this grader says no `combines`"
            )
        return await self.grading(graders)


def _look_at_copy(usable: Usable, answer: Answer) -> bool:
    """Whether an answer is of use; it may be kept in the cache as it came."""
    return usable(copy_answer(answer))


def _message_of(value: object) -> Message:
    """What a grader means as a message. Raise TypeError, since it is a mistake in its code."""
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        what = f"`ask` takes a list of messages, and {type(value).__name__} is none"
        raise TypeError(f"{what}: Message({{'role': 'user', 'content': …}}) is")
    if value.get("role") not in ROLES:
        roles = ", ".join(ROLES)
        raise TypeError(f"`ask` takes messages with a role, one of {roles}: {value!r:.80} has none")
    return Message.copy_of(dict(value))


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
    """What it looks at, if that is the text or the JSON of the answer: then it can be told a
    `path`. Where that leads to what is no text, what reads text fails; and where an answer is not
    JSON, what reads a value does."""
    measures: bool = False
    """Whether it goes by figures of the trial alone, such as time and cost, and by nothing that was
    said. Whatever else grades an answer of which a part is missing is errored."""
    grades_blocked: bool = False
    """Whether it can grade an answer that the provider blocked."""
    compares_expected: bool = False
    """Whether it compares with `expected_output`, so that the built-in comparison isn't added."""
    half: Half | None = None
    """Which half of `expected_output` it is that compares with it; None if it is all of it. The
    built-in comparison is added for what is left."""
    judges: bool = False
    """Whether it asks a judge, and reads the `criteria` and `rubrics` of a case if it has none of
    its own."""
    runs_code: bool = False
    """Whether it starts a process or imports code, which --no-exec forbids."""
    instead: tuple[tuple[str, str], ...] = ()
    """Options that stand in place of others: where the first of a pair is said, what the
    configuration says of the second doesn't hold."""
    decides: bool = False
    """Whether its name says when it passes, so that it has no `threshold`."""
    combines: bool = False
    """Whether it is made of other graders, and asks them."""
    example: str = ""
    """YAML that shows it."""
    only_reads: bool = False
    """Whether it changes nothing of the context that it is given, so that it needs no copy."""
    reads_grades: bool = False
    """Whether it looks at the grades of those before it: then it is begun once all of them are
    done. Others that have to be waited for are waited for together."""
    light: bool = False
    """Of evalcase's own: whether a grader is its options and nothing else. It loads, holds and asks
    nothing, and may be made again, so that each of a million cases can have its own."""

    @property
    def compared(self) -> frozenset[Half]:
        """What of `expected_output` it compares with, if it does."""
        return BOTH if self.half is None else frozenset({self.half})


class Grader(Protocol):
    """Says how good an answer is. It is made once per run and may be asked by many trials; only one
    whose kind is `light` may be made again."""

    kind: ClassVar[GraderKind]

    def load(self, surroundings: Surroundings) -> None:
        """Get ready, before the first answer: import what it names. Raise ConfigError."""
        del surroundings

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        """A score, or something to wait for: plain graders stay plain, and quick."""
        ...

    def fingerprint(self) -> str:
        """What else than its options and its `sources` decides a score, as a text: where it
        changes, answers are graded again."""
        return ""

    def sources(self) -> Mapping[str, str]:
        """The files that its scores rest on, with the hash of each: where one changes, answers are
        graded again."""
        return {}

    def modules(self) -> Iterable[str]:
        """The Python modules that its scores rest on, such as that of a function: where one
        changes, or what it imports, answers are graded again. That of its own class is known."""
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
        """Whether it looks at the grades of those before it, and has to wait for them."""
        return self.kind.reads_grades

    def accepts_silence(self) -> bool:
        """Of a kind that reads text: whether it asks for an empty text. Others fail an answer
        without text, also with `not`."""
        return False

    def missing_in(self, case: Case) -> str | None:
        """What it can't do without and the case hasn't got, in words; None if it has all."""
        del case
        return None

    def asks(self) -> tuple[str, ...]:
        """The names of the targets that it asks, as far as it knows them before."""
        return tuple(name for each in self.inner() for name in each.grader.asks())

    async def close(self) -> None:
        """Let go of what it holds, such as processes, once all answers are graded."""
        return


def is_grader(value: object) -> TypeGuard[Grader]:
    """Whether an object is a grader: it has a kind of graders. A class is none yet."""
    match value:
        case type():
            return False
        case object(kind=GraderKind()):
            return True
        case _:
            return False


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
