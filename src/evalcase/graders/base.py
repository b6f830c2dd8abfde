"""What a grader is: a Struct whose fields are its options, with one method.

class Shorter(Grader):
    name = "shorter"
    description = "The answer is shorter than a number of characters."
    argument = "value"

    value: Annotated[Count, about("How long an answer must not be.")]

    def grade(self, context: Context) -> Score:
        length = len(context.answer.text)
        return Score(float(length < self.value), f"{length} characters")
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol

from msgspec import NODEFAULT, Meta, Struct, field

from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.grade import Grade, Score
from evalcase.types.message import Message, copy_of
from evalcase.types.options import Amount, JsonPath, Seconds, Share, Text, about, of_kind
from evalcase.types.problem import Finding, KeyPath
from evalcase.types.read_options import Option, fields_of, make, problems_in
from evalcase.types.target import Question, Surroundings
from evalcase.types.value import JSON, Value, copy_value, replace
from evalcase.types.workspace import Changes, Space
from evalcase.util.answers import is_comparable, text_of_content

Usable = Callable[[Answer], bool]
"""Says whether a grader can use an answer."""
Asker = Callable[[str, Sequence[Message], JSON, Usable | None], Awaitable[Answer]]
"""Asks a target of a name some messages, with a schema for its answer or None."""
GradeAll = Callable[[Sequence["NamedGrader"]], Awaitable[Sequence[Grade]]]
"""Has graders grade the same answer, each within its own limit."""

Half = Literal["calls", "content"]
"""What an `expected_output` may have: tool calls, and text or data at the end."""
BOTH: frozenset[Half] = frozenset({"calls", "content"})
NEITHER: frozenset[Half] = frozenset()


CALLS: frozenset[Half] = frozenset({"calls"})
CONTENT: frozenset[Half] = frozenset({"content"})


def expected_halves(messages: Iterable[Mapping[str, JSON]]) -> frozenset[Half]:
    """What there is to compare in an expected output: calls, and content that is not empty."""
    said = [message for message in messages if message["role"] == "assistant"]
    contents = [each["content"] for each in said if each.get("content") is not None]
    last = contents[-1] if contents else None
    text = text_of_content(last)
    has_content = is_comparable(last) and (text is None or text.strip())
    has_calls = any(each.get("tool_calls") for each in said)
    return (CALLS if has_calls else NEITHER) | (CONTENT if has_content else NEITHER)


class Part(NamedTuple):
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
    workspace: Space | None = None
    """Where the agent worked, made ready for grading; None if the case has none."""
    changes: Changes | None = None
    """What the agent changed there."""
    part: Part | None = None
    """What is graded in place of the whole answer, where the grader has a `path`."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The question and the answer; of a conversation, every turn."""
        return (*self.question.messages, *self.answer.messages)

    @property
    def text(self) -> str:
        """The text to grade: of the answer, or of the part that a `path` leads to."""
        if self.part is None:
            return self.answer.text
        value = self.part.value
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def copy(self) -> Context:
        """The same for user code, which may write into it."""
        part = None if self.part is None else Part(self.part.path, copy_value(self.part.value))
        return replace(
            self, question=copy_of(self.question), answer=copy_of(self.answer),
            grades=copy_of(self.grades), part=part,
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
        looks_at = None if usable is None else lambda answer: usable(copy_of(answer))
        return await self.asker(target, said, schema, looks_at)

    async def grade_with(self, graders: Sequence[NamedGrader]) -> Sequence[Grade]:
        """The grades that other graders give the same answer."""
        if self.grading is None:
            raise RuntimeError("`grade_with` is for graders whose `inner` returns others")
        return await self.grading(graders)


class Grader(Struct, dict=True, weakref=True):
    """Scores answers. One object grades many trials.

    The class attributes say what the engine must know before it makes one. `reads`:
    - `answer`: the whole answer, with its messages and calls;
    - `text`, `value` or `either`: the text or the JSON of the answer, or of the part that its
      option `path` leads to;
    - `figures`: only time, cost, tokens and turns, so that it can grade a truncated answer;
    - `ending`: how the answer ended, so that it can grade a blocked answer.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    """A sentence for people: when it passes."""
    argument: ClassVar[str | None] = None
    """The option that `{name: argument}` gives; None if it takes none."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Options of which at least one has to be there. `min` and `max` of a grader are bounds."""
    reads: ClassVar[Literal["answer", "text", "value", "either", "figures", "ending"]] = "answer"
    threshold: ClassVar[Literal["optional", "needed", "none"]] = "optional"
    """Whether it has the option `threshold`, and can't do without."""
    judges: ClassVar[bool] = False
    """Whether it asks a judge, by default about the `criteria` and `rubrics` of the case."""
    runs_code: ClassVar[bool] = False
    """Whether it starts a process or imports code, which --no-exec forbids."""
    workspace: ClassVar[Literal["none", "changes", "files"]] = "none"
    """What it looks at of a workspace: what was changed, or the files themselves."""
    least_limit_s: ClassVar[float] = 0.0
    """Its time limit by default, where `grader_timeout_s` is less."""
    example: ClassVar[str] = ""
    """YAML that shows it."""

    def conflicts(self) -> Iterator[Finding]:
        """What is wrong with its options together, with paths seen from the grader."""
        yield from check_needs(self, self.needs, f"the grader `{self.name}`")

    def load(self, surroundings: Surroundings) -> None:
        """Get ready, before the first answer: import what it names. Raise ConfigError."""
        del surroundings

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        """A score, or something to wait for."""
        raise NotImplementedError

    async def close(self) -> None:
        """Release what it holds, such as processes, once all answers are graded."""
        return

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

    def asks(self) -> tuple[str, ...]:
        """The names of the targets that it asks, as far as it knows them before."""
        return tuple(name for each in self.inner() for name in each.grader.asks())

    def compares(self) -> frozenset[Half]:
        """The halves of `expected_output` that it compares with. The built-in comparison does the
        rest."""
        return NEITHER

    def judges_case(self) -> bool:
        """Whether it reads the `criteria` and `rubrics` of the case."""
        return self.judges

    def reads_grades(self) -> bool:
        """Whether it reads the grades of those before it, and starts once they are done."""
        return False

    def accepts_silence(self) -> bool:
        """Whether an empty text can pass. Other graders of text fail it, also with `not`."""
        return False

    def sees_workspace(self) -> bool:
        """Whether it looks at a workspace, once it is loaded."""
        return self.workspace != "none"

    def missing_in(self, case: Case) -> str | None:
        """What it needs and the case doesn't have, in words; None if nothing."""
        del case
        return None


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
    indicator: bool = False
    """Whether its grade is shown, and doesn't count in the verdict."""

    @property
    def needed_score(self) -> float:
        return 1.0 if self.threshold is None else self.threshold

    @property
    def compared(self) -> frozenset[Half]:
        """The halves of `expected_output` that it, or one inside of it, compares with. What is
        only shown replaces no comparison."""
        if self.indicator:
            return NEITHER
        inner = [each.compared for each in self.grader.inner()]
        return self.grader.compares().union(*inner)

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

    name: Annotated[Text | None, about("Its name in results.", words="a name")] = None
    weight: Annotated[Amount, about("How much it counts in the weighted mean.", example=2)] = 1.0
    required: Annotated[bool, about("Whether it must pass, whatever the weighted mean.")] = False
    indicator: Annotated[bool, about("Whether it is shown only, outside the verdict.")] = False
    threshold: Annotated[
        Share, about("The score at which it passes.", elsewhere=("min_score",))
    ] = 1.0
    timeout_s: Annotated[Seconds | None, about("Its time limit.", elsewhere=("timeout",))] = None
    negated: Annotated[bool, about("Whether to invert it: the score becomes 1 - score.")] = field(
        name="not", default=False
    )
    path: Annotated[JsonPath | None, about("The part of the answer's JSON to grade.")] = None


SHARED = fields_of(SharedOptions)


_PROMPT_FILE = re.compile(r"[^\n]+\.(?:md|markdown|txt|prompt|j2|jinja2?|html?)", re.IGNORECASE)


def names_file(prompt: str) -> bool:
    return _PROMPT_FILE.fullmatch(prompt) is not None


def check_needs(options: Struct, needs: Sequence[str], whose: str) -> Iterator[Finding]:
    """Whether options have one of those that are needed, and whether their bounds are sound."""
    known = fields_of(type(options))
    given = [name for name in needs if getattr(options, name) != known[name].default]
    if needs and not given:
        *names, last = [f"`{name}`" for name in needs]
        what = f"{', '.join(names)} or {last}" if names else last
        yield Finding((), f"{whose} needs {what}", code="missing-option")
    least, most = getattr(options, "min", None), getattr(options, "max", None)
    if least is not None and most is not None and least > most:
        yield Finding(("min",), f"`min` is {least}, and `max` only {most}")
    if least == 0 and given == ["min"]:
        yield Finding(("min",), "every answer has at least 0", "say at least 1, or a `max`")


def object_to_count(number: int, said: str, least: int | None, most: int | None) -> str | None:
    """Why a number is not within bounds, after what it counts; None if it is."""
    if most is not None and number > most:
        return f"{said}, but at most {most:,} are allowed"
    if least is not None and number < least:
        return f"{said}, but at least {least:,} are needed"
    return None


class DeclaredGrader(NamedTuple):
    """A class of graders, and the options of all graders that it has."""

    kind: type[Grader]
    shared: Mapping[str, Option]
    names: Mapping[str | None, tuple[str, ...]]
    """Its options that name something, or that hold other graders, by what they name."""

    @property
    def options(self) -> dict[str, Option]:
        return {**fields_of(self.kind), **self.shared}

    @property
    def takes_mapping(self) -> bool:
        """Whether its argument may be a mapping: then `{name: {…}}` gives that, and no options."""
        argument = fields_of(self.kind).get(self.kind.argument or "")
        return argument is not None and _takes_mapping(argument)

    def naming(self, what: str) -> tuple[str, ...]:
        return self.names.get(what, ())

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

    def faults(self, values: Mapping[str, JSON]) -> list[Finding]:
        """What is wrong with the options of one such grader, paths seen from the grader."""
        what = f"the grader `{self.kind.name}`"
        found = problems_in(self.kind, values, what, beside=self.shared)
        if self.kind.threshold == "none":
            hint = "it passes as its name says; a mean with a threshold is `weighted`"
            found = [
                each._replace(hint=hint) if each.path == ("threshold",) else each for each in found
            ]
        return found

    def make(self, values: Mapping[str, JSON]) -> Grader:
        """One with these sound options."""
        own = {name: values[name] for name in fields_of(self.kind) if name in values}
        return make(self.kind, own)


def _takes_mapping(option: Option) -> bool:
    if option.schema is not None:
        return "object" in option.schema.get("type", ())
    return option.json in ("object", "any") or any(map(_takes_mapping, option.alternatives))


def is_own_class(kind: type) -> bool:
    return kind.__module__.startswith("evalcase.graders.")


@lru_cache(maxsize=256)
def declared_grader(kind: type[Grader]) -> DeclaredGrader:
    shared = {name: each for name, each in SHARED.items() if name not in fields_of(kind)}
    if kind.reads not in ("text", "value", "either"):
        del shared["path"]
    if kind.threshold == "needed":
        shared["threshold"] = replace(shared["threshold"], default=NODEFAULT)
    elif kind.threshold == "none":
        del shared["threshold"]
    names: dict[str | None, tuple[str, ...]] = {}
    for name, each in fields_of(kind).items():
        names[each.names] = (*names.get(each.names, ()), name)
    return DeclaredGrader(kind, shared, names)


What = Literal["grader", "target", "asked", "judge", "code", "program", "script", "repo"]
"""What a suite names: `target` is what is tested, `asked` one that graders ask or that plays a
user, `code` a function that grades, `program` one that does, `script` the file that it runs,
`repo` a repository of the configuration."""


class Known(Protocol):
    """What is installed and configured. Objections and sentences are None where all is well."""

    def grader(self, name: str) -> DeclaredGrader | None: ...

    def object_to(self, what: What, name: str) -> Finding | None: ...

    def describe_same_model(self, judge: str | None, target: str | None) -> str | None:
        """Says that a judge is the model that it judges; None is that of the configuration."""
        ...
