"""A conversation: one answer that holds all messages, and the turns as parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from evalcase.types.answer import Answer, Count, Earlier, Seconds, Usage, Usd, sum_known, sum_usage
from evalcase.types.message import Message
from evalcase.types.value import Value

USER_PROTOCOL = "user/1"
"""The version of the instructions for the target that plays a user."""
USER_NEEDS = ("goal", "target", "max_turns")


class SimulatedUser(Value, frozen=True):
    """The `user` of a case, with its fields in the order of the canonical form."""

    goal: str
    target: str
    """The name of the target that plays the user."""
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
"""How a conversation ended."""


class Turn(Value, frozen=True):
    """One turn: how many messages it has, and the time and cost of its answer."""

    said: int
    """How many messages the target was given."""
    answered: int
    """How many messages it answered with."""
    duration_s: Seconds = 0.0
    usage: Usage | None = None
    cost_usd: Usd | None = None
    truncated: bool = False
    cached: bool = False
    model: str | None = None
    earlier: Earlier | None = None
    steps: int = 0
    """How many of the steps of the conversation belong to it."""
    steps_cut: Count = 0
    trace: str | None = None


class Simulated(Value, frozen=True):
    """The target that played the user, and its usage and cost. They don't count for the target."""

    target: str
    protocol: str
    asked: Count = 0
    """How many questions it was asked, without retries."""
    cached: Count = 0
    """How many of its answers came from the cache."""
    asking_s: Seconds = 0.0
    """How long its answers took together."""
    usage: Usage | None = None
    cost_usd: Usd | None = None
    """None where nothing was asked, or a price is unknown."""
    model: str | None = None


def sum_simulated(target: str, answers: Sequence[Answer], asking_s: float) -> Simulated:
    """The usage and cost of a target that played a user."""
    return Simulated(
        target, USER_PROTOCOL, len(answers), sum(answer.cached for answer in answers),
        round(asking_s, 6), sum_usage([answer.usage for answer in answers]),
        sum_known([answer.cost_usd for answer in answers]), _model_of(answers),
    )  # fmt: skip


def _model_of(answers: Sequence[Answer]) -> str | None:
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
        return Turn(
            len(self.said), len(answer.messages), self.duration_s, answer.usage, answer.cost_usd,
            answer.truncated, answer.cached, answer.model, answer.earlier, len(answer.steps),
            answer.steps_cut, answer.trace,
        )  # fmt: skip


def join_turns(exchanges: Sequence[Exchange]) -> Answer:
    """One answer that holds a whole conversation. A usage or cost that some turn leaves out is
    unknown for the whole."""
    answers = [each.answer for each in exchanges]
    messages = tuple(
        message for each in exchanges for message in (*each.said, *each.answer.messages)
    )
    earlier = None
    if any(answer.earlier for answer in answers):
        first = [
            each.answer.earlier or Earlier(each.duration_s, each.answer.cost_usd)
            for each in exchanges
        ]
        took_s, cost_usd = [each.duration_s for each in first], [each.cost_usd for each in first]
        earlier = Earlier(sum_known(took_s), sum_known(cost_usd))
    return Answer(
        messages,
        sum_usage([answer.usage for answer in answers]),
        sum_known([answer.cost_usd for answer in answers]),
        truncated=any(answer.truncated for answer in answers),
        cached=bool(answers) and all(answer.cached for answer in answers),
        model=_model_of(answers),
        scrubbed=any(answer.scrubbed for answer in answers),
        earlier=earlier,
        last_at=len(messages) - len(answers[-1].messages) if answers else 0,
        steps=tuple(step for answer in answers for step in answer.steps),
        steps_cut=sum(answer.steps_cut for answer in answers),
    )


def split_turns(answer: Answer, turns: Sequence[Turn]) -> list[Exchange]:
    """The turns of a conversation that is one answer. Raise ValueError if they don't fit it."""
    exchanges, at, step = [], 0, 0
    for turn in turns:
        if turn.said < 0 or turn.answered < 0 or turn.steps < 0:
            raise ValueError("a turn has less than no messages")
        middle, end = at + turn.said, at + turn.said + turn.answered
        own = Answer(
            answer.messages[middle:end], turn.usage, turn.cost_usd, turn.truncated, turn.cached,
            turn.model, scrubbed=answer.scrubbed, earlier=turn.earlier,
            steps=answer.steps[step : step + turn.steps], steps_cut=turn.steps_cut,
            trace=turn.trace,
        )  # fmt: skip
        exchanges.append(Exchange(answer.messages[at:middle], own, turn.duration_s))
        at, step = end, step + turn.steps
    if at != len(answer.messages):
        raise ValueError(f"its turns have {at} messages, and its answer {len(answer.messages)}")
    if turns and answer.last_at != at - turns[-1].answered:
        raise ValueError("its last turn is not where its answer says")
    return exchanges
