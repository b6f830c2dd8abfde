"""An answer is what a target returns: messages and their cost. A failure says why there is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from math import fsum, inf
from typing import Annotated, Any, Literal, NamedTuple, Self

from msgspec import Meta, field
from msgspec.structs import astuple

from evalcase.types.message import Message, Step, ToolCall, check_messages, text_of
from evalcase.types.value import JSON, Value, expect, replace

MOST_USD = 1e12
MOST_TOKENS = 10**15
"""A larger number is a mistake."""

Count = Annotated[int, Meta(ge=0, le=MOST_TOKENS)]
Usd = Annotated[float, Meta(ge=0, le=MOST_USD)]
Seconds = Annotated[float, Meta(ge=0, le=1e12)]


class Usage(Value, frozen=True):
    """Tokens as the target counted them; None where it didn't say."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None

    def __post_init__(self) -> None:
        for count in astuple(self):
            fits = count is None or (type(count) is int and count >= 0)
            expect(fits, "`usage` counts tokens from 0", count)


class Earlier(Value, frozen=True):
    """The time and cost of an answer when it was first given; None where they are unknown."""

    duration_s: Seconds | None = None
    cost_usd: Usd | None = None


class Answer(Value, frozen=True):
    """The messages of a target, in order, with usage and cost where they are known."""

    messages: tuple[Message, ...]
    usage: Usage | None = None
    cost_usd: Usd | None = None
    truncated: bool = False
    """Whether output was cut because it was larger than evalcase keeps."""
    cached: bool = False
    """Whether it comes from the cache or a record, and cost nothing now."""
    model: str | None = None
    """The model that answered, as its service names it."""
    asked_as: str | None = None
    """How an answer by a schema was asked for: `json_schema`, `json_object` or `prompt`."""
    scrubbed: bool = False
    """Whether a secret was taken out when it was recorded, so that it can't be graded again."""
    earlier: Earlier | None = None
    """Its first time and cost, where it comes from a cache, a record or a file of answers."""
    last_at: Count = 0
    """Of a conversation: the index of the first message that answers the last turn."""
    ends_conversation: bool = False
    steps: tuple[Step, ...] = ()
    """The steps that led to it, where they were traced."""
    steps_cut: Count = 0
    trace: str | None = None
    stderr: str | None = None
    """The last lines of a program's standard error, where the answer has no text."""
    session: str | None = None

    def __post_init__(self) -> None:
        check_messages(self.messages, "an Answer")
        if self.usage is not None:
            expect(isinstance(self.usage, Usage), "`usage` of an Answer is a Usage", self.usage)
        if (cost := self.cost_usd) is not None:
            fits = type(cost) in (int, float) and 0 <= cost < inf
            expect(fits, "`cost_usd` of an Answer is a number from 0", cost)

    @classmethod
    def of_text(
        cls, text: str, *, usage: Usage | None = None, cost_usd: float | None = None
    ) -> Answer:
        expect(isinstance(text, str), "Answer.of_text takes text", text)
        return cls((Message({"role": "assistant", "content": text}),), usage, cost_usd)

    @property
    def last(self) -> tuple[Message, ...]:
        """The messages that answer the last turn: all of them, unless it is a conversation."""
        return self.messages[self.last_at :]

    @property
    def content(self) -> JSON:
        """The content of the last assistant message that has any; None where there is none."""
        for message in reversed(self.messages[self.last_at :]):
            if message["role"] == "assistant" and message.get("content") is not None:
                return message["content"]  # type: ignore[no-any-return]
        return None

    @property
    def text(self) -> str:
        """The answer as text: parts as their joined text, other data as JSON."""
        content = self.content
        if content is None:
            return ""
        text = text_of(content)
        return text if text is not None else json.dumps(content, ensure_ascii=False)

    @property
    def tool_calls(self) -> list[ToolCall]:
        return [call for message in self.messages for call in message.tool_calls]

    def fingerprint(self) -> str:
        """16 hex digits of the hash of its messages."""
        said = json.dumps(self.messages, sort_keys=True, separators=(",", ":"))
        return sha256(said.encode()).hexdigest()[:16]


def sum_usage(several: Sequence[Usage | None]) -> Usage | None:
    """The tokens of all answers; None for a kind of tokens that some answer leaves out."""
    usages = [usage for usage in several if usage is not None]
    if not usages or len(usages) < len(several):
        return None
    counts = zip(*map(astuple, usages), strict=True)
    return Usage(*[None if None in each else sum(each) for each in counts])


def sum_known(numbers: Sequence[float | None]) -> float | None:
    """The sum; None where there are no numbers, or one is unknown."""
    known = [number for number in numbers if number is not None]
    return fsum(known) if known and len(known) == len(numbers) else None


FailureKind = Literal[
    "exception", "timeout", "exit", "connection", "http", "protocol", "grader", "stopped",
    "unreported", "unread-calls", "blocked", "workspace", "judge-unparseable", "judge-truncated",
    "judge-refused", "judge-unsure", "judge-split",
]  # fmt: skip
"""exception: user code raised; exit: a process ended badly; protocol: the answer made no sense;
unreported: a target does not report what a grader limits; unread-calls: the answer holds calls in
an unknown form; blocked: the provider kept the answer back; workspace: it could not be made or
looked at; judge-…: a judge gave no verdict."""


class Failure(Value, frozen=True):
    kind: FailureKind
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    """What helps to find the cause: status, body excerpt, exit code, stderr tail, traceback."""


USER_PROTOCOL = "user/1"


class SimulatedUser(Value, frozen=True):
    """The `user` of a case, with its fields in the order of the canonical form."""

    goal: str
    target: str
    max_turns: Annotated[int, Meta(ge=1)]
    persona: str | None = None
    facts: list[Any] | dict[str, Any] | None = None
    """What the user knows: sentences, or values by name."""
    first: tuple[Message, ...] = ()
    """What the user says first; if empty, the target that plays the user begins."""


TalkEnd = Literal["done", "max_turns", "stopped", "turn_failed"]
TALK_ENDINGS: dict[TalkEnd, str] = {
    "done": "the user said that they were done",
    "max_turns": "the user had no more turns left",
    "stopped": "the target ended it",
    "turn_failed": "a turn failed, and those after it were not asked",
}


class Turn(Value, frozen=True):
    """One turn: how many messages it has, and the time and cost of its answer."""

    said: Count
    """How many messages the target was given."""
    answered: Count
    duration_s: Seconds = 0.0
    usage: Usage | None = None
    cost_usd: Usd | None = None
    truncated: bool = False
    cached: bool = False
    model: str | None = None
    earlier: Earlier | None = None
    steps: Count = 0
    """How many of the steps of the conversation belong to it."""
    steps_cut: Count = 0
    trace: str | None = None


class Asking(Value, frozen=True, kw_only=True):
    """The questions that a grader, or the target that plays a user, needed; without retries. They
    don't count for the target that is tested."""

    asked: Count = 0
    usage: Usage | None = None
    cached: Count = 0
    """How many of the answers came from the cache."""
    asking_s: Seconds | None = None
    """How long the answers took together, with the wait for their turn."""
    cost_usd: Usd | None = None
    """None where nothing was asked, or a price is unknown."""

    def with_answers(self, answers: Sequence[Answer], asking_s: float) -> Self:
        return replace(
            self, asked=len(answers), usage=sum_usage([answer.usage for answer in answers]),
            cached=sum(answer.cached for answer in answers), asking_s=round(asking_s, 6),
            cost_usd=sum_known([answer.cost_usd for answer in answers]),
        )  # fmt: skip


class Simulated(Asking, frozen=True):
    """The target that played the user."""

    target: str
    protocol: str
    model: str | None = None


def model_of(answers: Sequence[Answer]) -> str | None:
    models = {answer.model for answer in answers}
    return models.pop() if len(models) == 1 else None


class Exchange(NamedTuple):
    """The messages for a target in one turn, and its answer."""

    said: tuple[Message, ...]
    answer: Answer
    duration_s: float

    @property
    def turn(self) -> Turn:
        """What is recorded of it beside its messages."""
        answer = self.answer
        counts = len(self.said), len(answer.messages)
        return Turn(*counts, self.duration_s, steps=len(answer.steps), **_shared(answer))


def _shared(value: Answer | Turn) -> dict[str, Any]:
    names = ("usage", "cost_usd", "truncated", "cached", "model", "earlier", "steps_cut", "trace")
    return {name: getattr(value, name) for name in names}


def join_turns(exchanges: Sequence[Exchange]) -> Answer:
    """One answer that holds a whole conversation. A usage or cost that some turn leaves out is
    unknown for the whole."""
    answers = [each.answer for each in exchanges]
    messages = tuple(
        message for each in exchanges for message in (*each.said, *each.answer.messages)
    )
    first = [
        each.answer.earlier or Earlier(each.duration_s, each.answer.cost_usd) for each in exchanges
    ]
    took_s, cost_usd = [each.duration_s for each in first], [each.cost_usd for each in first]
    is_earlier = any(answer.earlier for answer in answers)
    return Answer(
        messages,
        sum_usage([answer.usage for answer in answers]),
        sum_known([answer.cost_usd for answer in answers]),
        truncated=any(answer.truncated for answer in answers),
        cached=bool(answers) and all(answer.cached for answer in answers),
        model=model_of(answers),
        scrubbed=any(answer.scrubbed for answer in answers),
        earlier=Earlier(sum_known(took_s), sum_known(cost_usd)) if is_earlier else None,
        last_at=len(messages) - len(answers[-1].messages) if answers else 0,
        steps=tuple(step for answer in answers for step in answer.steps),
        steps_cut=sum(answer.steps_cut for answer in answers),
    )


def split_turns(answer: Answer, turns: Sequence[Turn]) -> list[Exchange]:
    """The turns of a conversation that is one answer. Raise ValueError if they don't fit it."""
    exchanges, at, step = [], 0, 0
    for turn in turns:
        middle, end = at + turn.said, at + turn.said + turn.answered
        steps = answer.steps[step : step + turn.steps]
        own = Answer(
            answer.messages[middle:end], scrubbed=answer.scrubbed, steps=steps, **_shared(turn)
        )
        exchanges.append(Exchange(answer.messages[at:middle], own, turn.duration_s))
        at, step = end, step + turn.steps
    if at != len(answer.messages):
        raise ValueError(f"its turns have {at} messages, and its answer {len(answer.messages)}")
    if turns and answer.last_at != at - turns[-1].answered:
        raise ValueError("its last turn is not where its answer says")
    return exchanges
