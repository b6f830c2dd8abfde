"""What a target is: whatever answers a question, and what it says of itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeGuard

from evalcase.model.answer import Answer
from evalcase.model.batching import Batching
from evalcase.model.json_value import JSON
from evalcase.model.option import option
from evalcase.model.question import Question
from evalcase.model.quota import Quota
from evalcase.model.shape import Flag, Number, Text
from evalcase.model.value import Value

Warn: TypeAlias = Callable[[str], None]


def _has_scheme(value: str) -> bool:
    return "://" in value


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """What every target can be told. The options of a kind derive from it."""

    kind: str = option(Text("the name of a kind"), "Which kind of target it is.", default="")
    concurrency: int | None = option(
        Number(1, whole=True),
        "The most trials to run at once.",
        default=None,
        elsewhere=("max_concurrency", "parallel", "threads"),
        decides_answer=False,
    )
    rpm: int | None = option(
        Number(1, whole=True),
        "The most requests per minute.",
        default=None,
        elsewhere=("requests_per_minute", "rate_limit", "max_rpm"),
        decides_answer=False,
    )
    tpm: int | None = option(
        Number(1, whole=True),
        "The most tokens per minute, of questions and answers.",
        default=None,
        elsewhere=("tokens_per_minute", "max_tpm"),
        decides_answer=False,
    )
    stateless: bool | None = option(
        Flag(),
        "Whether an answer depends only on the messages, and not on earlier ones of its session.",
        default=None,
        elsewhere=("stateful",),
    )


class TargetKind(Value, frozen=True):
    """What is known of a kind of target before one is made."""

    name: str
    about: str
    """A sentence for people."""
    options: type[TargetOptions]
    """The dataclass of its options; each field is declared by `option`."""
    value: str | None = None
    """The option that `kind:value` gives; None if there is no such spelling."""
    value_needed: bool = True
    """Whether `kind` alone, without a value, names nothing."""
    value_is_path: bool = False
    """Whether a value names a file or a folder, which in a suite has to be the project's."""
    folder_holds: tuple[str, ...] | None = None
    """Of which files a folder that is named has one; none, if it has to be a file; None if any
    folder will do."""
    split_value: Callable[[str], dict[str, JSON]] | None = None
    """How `kind:value` is read where it gives more than one option. It raises ConfigError."""
    runs_code: bool = False
    """Whether it starts a process or imports code, which --no-exec forbids."""
    priced: bool = False
    """Whether its answers have a price by the list of prices that is installed: `run.json` then
    says which one that was."""
    rules: tuple[dict[str, JSON], ...] = ()
    """What its options say of each other, for editors: JSON Schema. `check` asks a `conflict`."""
    carries_address: Callable[[str], bool] = _has_scheme
    """Whether a value says where to connect to, which no suite may."""


class Traits(Value, frozen=True):
    """What a target says of itself once it is made."""

    concurrency: int | None = None
    """How many answers it can give at once; None if it doesn't mind."""
    key_names: tuple[str, ...] = ()
    """The environment variables that it takes secrets from: they are kept out of all that is
    written or shown."""
    stateless: bool = True
    """Whether an answer depends on its question alone; else on its session, too."""
    caching: Literal["refused", "useless", "keyed"] = "refused"
    """`keyed`: `cache_key` says all that decides an answer. `useless`: asking costs nothing, or
    nothing tells two targets apart. `refused`: nobody knows what decides an answer."""
    plan: Callable[[Question], Awaitable[Answer]] | None = None
    """In place of `answer`, where all that there is to do is done in a thread: what it gives can't
    harm who waits for it, and needs no task of its own."""
    holds_sessions: bool = False
    """Whether it holds something for each session, and has to be told when one is over."""
    rpm: int | None = None
    """How many requests it takes in a minute; None if it doesn't mind."""
    tpm: int | None = None
    """How many tokens, of questions and answers together."""
    batching: Batching | None = None
    """What sends questions in batches, where it is asked so: then all are sent before the first
    trial, and `answer` finds what came back."""
    quota: Callable[[], Quota | None] | None = None
    """What its service said of how much more it takes, if it said something since the last time:
    asked for after each answer."""
    seen: Callable[[Question], Mapping[str, JSON]] | None = None
    """What was seen of a call that came to nothing, such as its steps: asked for once after it."""
    only_reads: bool = False
    """Whether it changes nothing of the questions that it is given, so that it needs no copies."""


class TargetVersion(Value, frozen=True):
    """What tells a target apart from what it was before, as far as anybody can see: hashes."""

    options: str = ""
    """Of what the configuration says of it."""
    code: str = ""
    """Of the files that it is made of."""


class Target(Protocol):
    """What the engine needs of a target. A class of your own derives from it, and has `answer`.

    The engine sets time limits, from outside, by cancelling.
    """

    kind: ClassVar[TargetKind | None] = None
    traits: Traits = Traits()

    async def open(self) -> None:
        """Set up, once per run. Raise ConfigError or TargetError where that can't be done."""
        return

    async def answer(self, question: Question) -> Answer:
        """Answer one question. Raise TargetError; code of the user may raise anything."""
        ...

    async def end_session(self, session: str) -> None:
        """Let go of what is held for a session that is over; for those that hold any."""
        del session

    async def close(self) -> None:
        """Tear down, once, also after a failed `open` or a cancellation; in bounded time."""
        return

    def cache_key(self, question: Question) -> JSON | Awaitable[JSON]:
        """All that decides an answer, as JSON without secrets; for `keyed` targets only."""
        del question
        return None

    def sources(self) -> Mapping[str, str]:
        """The files of the project that its answers rest on, with the hash of each; asked for
        whether or not it is open. A model behind an address is in no file."""
        return {}


def is_target(value: object) -> TypeGuard[Target]:
    """Whether an object is a target: it derives from Target, or has traits of its own."""
    match value:
        case type():
            return False
        case object(traits=Traits()):
            return True
        case _:
            return Target in type(value).__mro__


def kind_of_targets(value: object) -> TargetKind | None:
    """The kind that a class of targets says it is of; None if it says none."""
    match value:
        case object(kind=TargetKind() as kind):
            return kind
        case _:
            return None


class Surroundings(Value, frozen=True):
    """What a target is made with beside its options: nothing is taken from the process."""

    root: str
    """The project's folder, which relative paths start from."""
    environment: Mapping[str, str]
    warn: Warn
    """Takes what a person should know, in one line; the same line may be told many times."""
    now: Callable[[], float]
    """Seconds since 1970."""


MakeTarget: TypeAlias = Callable[[Any, Surroundings], Target]
"""A target's class: it is called with its options and its surroundings, and keeps them."""
