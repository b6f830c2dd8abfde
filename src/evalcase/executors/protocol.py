"""The messages between a run and its workers: Structs, one JSON object in each line.

A worker takes secrets out of what it sends, because the run may not know them. The run trusts no
reply: user code in a worker may write in its place.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import field
from msgspec.json import Decoder

from evalcase.runner.calls import Attempted, OverTimeError
from evalcase.store.rows import check_values, decode_struct, encode_struct
from evalcase.types.answer import Answer, Seconds
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.target import Question, Traits
from evalcase.types.value import JSON, Value, decode_hook
from evalcase.types.workspace import Changes
from evalcase.util.errors import ErrorFacts, UserCodeError, to_user_code_error
from evalcase.util.json import copy_json

MOST_HELD = 10_000
"""How many answers that lost a secret are held as they were, to be graded so."""

# From the run.


class Setup(Value, frozen=True, tag="setup"):
    """The first message: names and paths, and no value that may be secret, except to Ray."""

    root: str
    cwd: str
    no_exec: bool
    default_target: str | None
    suite_targets: tuple[str, ...]
    """The targets that only suites name, which may not have an address."""
    opened: tuple[str, ...]
    """The targets that a worker opens before its first request: user code may block the event loop
    then, and limits of other calls would count that time."""
    variables: tuple[str, ...]
    """The names of the environment variables that reach a worker, beside the usual ones."""
    most_bytes: int | None = None
    """The memory that a worker may take."""
    environment: dict[str, str] = field(default_factory=dict)
    """The values of those variables, where a worker does not inherit them."""
    shipped_from: str = ""
    """The folder of the project at the run, if the worker has a copy elsewhere."""


class OpenTarget(Value, frozen=True, tag="open"):
    target: str


class Ask(Value, frozen=True, tag="ask"):
    target: str
    question: Question
    limit_s: float


class FindKey(Value, frozen=True, tag="key"):
    target: str
    question: Question


class GradeAnswer(Value, frozen=True, tag="grade"):
    case: dict[str, Any]
    question: Question
    answer: Answer
    duration_s: float | None
    turns: int
    changes: Changes | None = None
    held: int | None = None
    """The number of the request whose answer the worker holds as it was."""


class EndSession(Value, frozen=True, tag="end"):
    target: str
    session: str


class Ping(Value, frozen=True, tag="ping"):
    """Whether the event loop of a worker turns."""


Body: TypeAlias = OpenTarget | Ask | FindKey | GradeAnswer | EndSession | Ping


class Request(Value, frozen=True, tag="request"):
    number: int
    """Random: user code can't guess it, and so can't reply in place of others."""
    body: Body


class Drop(Value, frozen=True, tag="drop"):
    """The run no longer waits for the reply to a request."""

    number: int


class Close(Value, frozen=True, tag="close"):
    """Tear down and end."""


# Replies.


class Opened(Value, frozen=True, tag="opened"):
    traits: Traits
    sources: dict[str, str]


class Attempt(Value, frozen=True, tag="attempt"):
    """The outcome of a call of a target: an answer, an error, or neither if it took too long."""

    took_s: Seconds
    answer: Answer | None = None
    error: ErrorFacts | None = None
    seen: dict[str, Any] | None = None

    @classmethod
    def of(cls, tried: Attempted) -> Attempt:
        error = None
        if tried.error is not None and not isinstance(tried.error, OverTimeError):
            error = to_user_code_error(tried.error).facts
        return cls(tried.duration_s, tried.answer, error, dict(tried.seen) if tried.seen else None)

    def read(self, limit_s: float) -> Attempted:
        if self.error is not None:
            return Attempted(None, UserCodeError(self.error), self.took_s, self.seen)
        error = None if self.answer is not None else OverTimeError(limit_s)
        return Attempted(self.answer, error, self.took_s, self.seen)


class Graded(Value, frozen=True, tag="graded"):
    grades: tuple[Grade, ...]


class Key(Value, frozen=True, tag="key"):
    """The kind of a target, and all that decides its answer."""

    kind: str
    key: JSON


class Done(Value, frozen=True, tag="done"):
    """To a Ping, or an EndSession."""


class Refused(Value, frozen=True, tag="refused"):
    """Why a worker can't do what was requested."""

    why: str
    is_config: bool = False


ReplyBody: TypeAlias = Opened | Attempt | Graded | Key | Done | Refused
REPLIES: dict[type[Body], type[ReplyBody]] = {
    OpenTarget: Opened, Ask: Attempt, FindKey: Key, GradeAnswer: Graded, EndSession: Done,
    Ping: Done,
}  # fmt: skip
"""The reply to each request, if it is not refused."""


class Reply(Value, frozen=True, tag="reply"):
    """To a Request; or of the run, to an AskJudge."""

    number: int
    body: ReplyBody


ToWorker: TypeAlias = Setup | Request | Drop | Reply | Close


# From a worker.


class AskJudge(Value, frozen=True, tag="ask-judge"):
    """A grader asks a target. The run does so, with its limits and its budget."""

    grading: int
    """The request that the grader belongs to."""
    number: int
    target: str
    messages: tuple[Message, ...]
    schema: JSON
    may_cache: bool


class Warned(Value, frozen=True, tag="warn"):
    text: str


class Ready(Value, frozen=True, tag="ready"):
    """The targets are open."""


class Ending(Value, frozen=True, tag="ending"):
    """Why a worker ends itself; None where the run told it to."""

    why: str | None = None


ToRun: TypeAlias = Reply | AskJudge | Warned | Ready | Ending

_to_worker: Decoder[ToWorker] = Decoder(ToWorker, dec_hook=decode_hook)
_to_run: Decoder[ToRun] = Decoder(ToRun, dec_hook=decode_hook)


def write_message(message: ToWorker | ToRun) -> bytes:
    """The line of a message. Raise ValueError for what can't be written as JSON."""
    if isinstance(message, Reply):
        check_values(message.body)
        copy_json(message.body.key if isinstance(message.body, Key) else None)
    return encode_struct(message) + b"\n"


def read_from_run(line: bytes) -> ToWorker:
    return decode_struct(line, _to_worker)


def read_from_worker(line: bytes) -> ToRun:
    """Raise ValueError if a line is no message of a worker."""
    return decode_struct(line, _to_run)
