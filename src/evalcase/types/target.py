"""A target answers questions: what it is given, its interface, its kind and its traits.

A question never says what is expected of its answer."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeGuard

from msgspec import field

from evalcase.errors import TargetError
from evalcase.types.answer import Answer
from evalcase.types.message import Message, check_messages, text_of
from evalcase.types.options import Count, Text, about
from evalcase.types.value import JSON, Value
from evalcase.types.workspace import Overlay, Space


class Question(Value, frozen=True):
    """The messages for a target, and where they belong. Cases, judges and simulated users ask."""

    messages: tuple[Message, ...]
    """The conversation so far; the last message is to be answered."""
    case: str = ""
    suite: str = ""
    repeat: int = 1
    attempt: int = 1
    """The number of the attempt in the trial, from 1."""
    session: str = ""
    """The same for all attempts and turns of a trial. What a grader asks has its own session."""
    turn: int = 1
    conversation_id: str | None = None
    metadata: dict[str, JSON] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """The files that messages name: absolute paths by the names as written."""
    schema: JSON = None
    workspace: Space | None = None
    hash: str = ""
    """The question hash of the case; empty where a grader or a simulated user asks."""

    def __post_init__(self) -> None:
        check_messages(self.messages, "a Question")

    @property
    def last_user(self) -> Message | None:
        for message in reversed(self.messages):
            if message["role"] == "user":
                return message
        return None

    @property
    def text(self) -> str:
        """The last message of the user as text: parts joined, other data as JSON."""
        message = self.last_user
        if message is None or message.content is None:
            return ""
        text = text_of(message.content)
        return text if text is not None else json.dumps(message.content, ensure_ascii=False)


class TrialKey(NamedTuple):
    """The name of a trial in a run."""

    suite: str
    case: str
    target: str
    repeat: int


class SentBatch(Value, frozen=True, tag="batch"):
    target: str
    tag: str
    """Its name before it was sent."""
    questions: int
    at: str
    id: str | None = None
    """Its id at the service; None if the run ended before the service answered."""


Warn: TypeAlias = Callable[[str], None]


def _has_scheme(value: str) -> bool:
    return "://" in value


class TargetOptions(Value, frozen=True, kw_only=True):
    """What every target can be told. The options of a kind derive from it."""

    kind: Annotated[Text, about("Which kind of target it is.", words="the name of a kind")] = ""
    extends: Annotated[
        Text | None,
        about("Another target, whose options it has unless it sets them.", decides_answer=False),
    ] = None
    concurrency: Annotated[
        Count | None, about("The most trials to run at once.", decides_answer=False)
    ] = None
    rpm: Annotated[Count | None, about("The most requests per minute.", decides_answer=False)] = (
        None
    )
    tpm: Annotated[
        Count | None,
        about("The most tokens per minute, of questions and answers.", decides_answer=False),
    ] = None
    stateless: Annotated[
        bool | None,
        about(
            "Whether an answer depends only on the messages, and not on earlier ones of its "
            "session."
        ),
    ] = None


class WorkspaceOptions(TargetOptions, frozen=True, kw_only=True):
    """What targets that work in a workspace can be told besides."""

    overlay: Annotated[
        Overlay,
        about(
            "Files and folders of the project to lay over the workspace, before what the agent "
            "changes is told.",
            example={".claude/skills/csv": "skills/csv"},
        ),
    ] = {}


class TargetKind(Value, frozen=True):
    """A kind of target, before one is made."""

    name: str
    about: str
    options: type[TargetOptions]
    """The Struct of its options, each declared by `about`."""
    value: str | None = None
    """The option that `kind:value` sets; None if there is no such spelling."""
    value_needed: bool = True
    """Whether `kind` alone, without a value, names nothing."""
    value_is_path: bool = False
    """Whether the value names a file or a folder. A suite may only name one in the project."""
    folder_holds: tuple[str, ...] | None = None
    """A named folder must have one of these files; empty if it must be a file; None if any
    folder will do."""
    split_value: Callable[[str], dict[str, JSON]] | None = None
    """Reads `kind:value` where it sets more than one option. It raises ConfigError."""
    runs_code: bool = False
    """Whether it starts a process or imports code, which --no-exec forbids."""
    priced: bool = False
    """Whether its answers are priced by the installed list of prices, which `run.json` names."""
    carries_address: Callable[[str], bool] = _has_scheme
    """Whether a value has an address, which no suite may name."""


class Traits(Value, frozen=True):
    """The properties of one target."""

    concurrency: int | None = None
    """How many answers it can give at once; None for no limit."""
    key_names: tuple[str, ...] = ()
    """The environment variables with its secrets, which evalcase never writes or shows."""
    stateless: bool = True
    """Whether an answer depends on its question only, and not on its session."""
    caching: Literal["refused", "useless", "keyed"] = "refused"
    """`keyed`: `cache_key` has all that decides an answer. `useless`: asking costs nothing, or
    two targets can't be told apart. `refused`: it is unknown what decides an answer."""
    holds_sessions: bool = False
    """Whether it holds something for each session, and needs `end_session`."""
    rpm: int | None = None
    """The most requests in a minute; None for no limit."""
    tpm: int | None = None
    """The most tokens in a minute, of questions and answers together."""
    batching: Any = None
    """A ChatBatches, which sends all questions before the first trial; then `answer` finds their
    answers."""
    seen: Callable[[Question], Mapping[str, JSON]] | None = None
    """What is known of a call that failed, such as its steps; called once after it."""
    timeout_s: float | None = None
    """How long an attempt may take, where only the defaults say."""
    workspace: bool = False
    """Whether it works in the folder that a question names as its `workspace`."""
    only_reads: bool = False
    """Whether it never changes its questions, and needs no copies."""


class TargetVersion(Value, frozen=True):
    """Hashes that change when a target changes, as far as evalcase can see."""

    options: str = ""
    code: str = ""


class Target:
    """The interface of a target. Your own class derives from it, and has `answer`. The engine
    cancels calls that exceed their time limit."""

    kind: ClassVar[TargetKind | None] = None
    traits: Traits = Traits()

    async def open(self) -> None:
        """Set up, once per run. It may raise ConfigError or TargetError."""
        return

    async def answer(self, question: Question) -> Answer:
        """Answer one question. It may raise TargetError; user code may raise anything."""
        raise NotImplementedError

    async def end_session(self, session: str) -> None:
        del session

    async def close(self) -> None:
        """Tear down, once, also after a failed `open` or a cancellation; in bounded time."""
        return

    def cache_key(self, question: Question) -> JSON | Awaitable[JSON]:
        """All that decides an answer, as JSON without secrets; for `keyed` targets."""
        del question
        return None

    def sources(self) -> Mapping[str, str]:
        """The hash of each file of the project that decides its answers; also before `open`."""
        return {}


def is_target(value: object) -> TypeGuard[Target]:
    """Whether an object derives from Target, or has traits."""
    if isinstance(value, type):
        return False
    return isinstance(getattr(value, "traits", None), Traits) or Target in type(value).__mro__


def kind_of_targets(value: object) -> TargetKind | None:
    kind = getattr(value, "kind", None)
    return kind if isinstance(kind, TargetKind) else None


def vector_of(answer: Answer) -> list[float]:
    """The embedding in an answer: a list of numbers. So a target of kind `openai` with
    `api = "embeddings"`, or a Python function that returns such a list, embeds the user's text.
    Raise TargetError for any other answer."""
    content = answer.content
    numbers = content if isinstance(content, list) else []
    vector = [float(each) for each in numbers if isinstance(each, int | float)]
    if not vector or len(vector) < len(numbers):
        what = "the answer is no embedding, which is a list of numbers"
        raise TargetError(f"{what}: {answer.text!r:.80}", kind="protocol")
    return vector


class Surroundings(Value, frozen=True):
    """What a target gets beside its options."""

    root: str
    """The folder of the project, where relative paths start."""
    environment: Mapping[str, str]
    warn: Warn
    """Shows one line to the user; repeated lines are shown once."""
    now: Callable[[], float]
    """Seconds since 1970."""


MakeTarget: TypeAlias = Callable[[Any, Surroundings], Target]
