"""A conversation as it went: the turns of an answer, each a part of its messages, and what each
of them took. One answer holds all that was said, so that whoever knows answers knows these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from evalcase.model.answer import Answer, Earlier, Usage, sum_usage
from evalcase.model.message import Message
from evalcase.model.simulated_user import USER_PROTOCOL
from evalcase.model.value import Value

TalkEnd = Literal["done", "max_turns", "stopped", "turn_failed"]
"""How a conversation ended. done: the user said that they were; max_turns: the user had said all
that they were allowed to; stopped: the target ended it; turn_failed: a turn failed, and
`stop_on_failure` is set."""
TALK_ENDINGS: dict[TalkEnd, str] = {
    "done": "the user said that they were done",
    "max_turns": "the user had no more turns left",
    "stopped": "the target ended it",
    "turn_failed": "a turn failed, and those after it were not asked",
}
"""The same in words."""


class Turn(Value, frozen=True):
    """One turn, by how many messages it has and what its answer took."""

    said: int
    """How many messages the target was given for it."""
    answered: int
    """How many messages it answered with."""
    duration_s: float = 0.0
    """Of the attempt that counts, as measured here."""
    usage: Usage | None = None
    cost_usd: Annotated[float, Meta(ge=0)] | None = None
    truncated: bool = False
    cached: bool = False
    model: str | None = None
    earlier: Earlier | None = None
    steps: int = 0
    """How many of the steps of the whole conversation are its own."""
    steps_cut: int = 0
    trace: str | None = None


class Simulated(Value, frozen=True):
    """Who played the user, and what that took: it is no part of what the target took."""

    target: str
    protocol: str
    """What it was told, by its version."""
    asked: int = 0
    """How many questions it was asked, retries not counted."""
    cached: int = 0
    """How many of its answers came from the cache."""
    asking_s: float = 0.0
    """How long its answers took together."""
    usage: Usage | None = None
    cost_usd: Annotated[float, Meta(ge=0)] | None = None
    """None where nothing was asked, or a price is not known."""
    model: str | None = None


def sum_simulated(target: str, answers: Sequence[Answer], asking_s: float) -> Simulated:
    """What a user took who was played by a target. What some answer doesn't say is not known."""
    models = {answer.model for answer in answers}
    return Simulated(
        target, USER_PROTOCOL, len(answers), sum(answer.cached for answer in answers),
        round(asking_s, 6), sum_usage([answer.usage for answer in answers]),
        _add_numbers([answer.cost_usd for answer in answers]),
        models.pop() if len(models) == 1 else None,
    )  # fmt: skip


class Exchange(NamedTuple):
    """What was said to a target in one turn, and what it answered."""

    said: tuple[Message, ...]
    answer: Answer
    duration_s: float

    @property
    def turn(self) -> Turn:
        """What is kept of it beside its messages."""
        answer = self.answer
        return Turn(
            len(self.said), len(answer.messages), self.duration_s, answer.usage, answer.cost_usd,
            answer.truncated, answer.cached, answer.model, answer.earlier, len(answer.steps),
            answer.steps_cut, answer.trace,
        )  # fmt: skip


def join_turns(exchanges: Sequence[Exchange]) -> Answer:
    """One answer that holds a whole conversation: every message after those that were there
    before it; and what all turns took together. What some turn doesn't say is not known."""
    answers = [each.answer for each in exchanges]
    messages = tuple(_messages_of(exchanges))
    models = {answer.model for answer in answers}
    return Answer(
        messages,
        sum_usage([answer.usage for answer in answers]),
        _add_numbers([answer.cost_usd for answer in answers]),
        any(answer.truncated for answer in answers),
        bool(answers) and all(answer.cached for answer in answers),
        models.pop() if len(models) == 1 else None,
        scrubbed=any(answer.scrubbed for answer in answers),
        earlier=_earlier_of(exchanges),
        last_at=len(messages) - len(answers[-1].messages) if answers else 0,
        steps=tuple([step for answer in answers for step in answer.steps]),
        steps_cut=sum(answer.steps_cut for answer in answers),
    )


def split_turns(answer: Answer, turns: Sequence[Turn]) -> list[Exchange]:
    """The turns of a conversation that is one answer. Raise ValueError if they aren't its own."""
    exchanges, at, step = [], 0, 0
    for turn in turns:
        if turn.said < 0 or turn.answered < 0:
            raise ValueError("a turn has less than no messages")
        middle, end = at + turn.said, at + turn.said + turn.answered
        own = Answer(
            answer.messages[middle:end], turn.usage, turn.cost_usd, turn.truncated, turn.cached,
            turn.model, scrubbed=answer.scrubbed, earlier=turn.earlier,
            steps=answer.steps[step : step + max(turn.steps, 0)], steps_cut=turn.steps_cut,
            trace=turn.trace,
        )  # fmt: skip
        step += max(turn.steps, 0)
        exchanges.append(Exchange(answer.messages[at:middle], own, turn.duration_s))
        at = end
    if at != len(answer.messages):
        raise ValueError(f"its turns have {at} messages, and its answer {len(answer.messages)}")
    if turns and answer.last_at != at - turns[-1].answered:
        raise ValueError("its last turn is not where its answer says")
    return exchanges


def _messages_of(exchanges: Iterable[Exchange]) -> Iterable[Message]:
    for each in exchanges:
        yield from each.said
        yield from each.answer.messages


def _earlier_of(exchanges: Sequence[Exchange]) -> Earlier | None:
    """What a conversation took when it was first had, where any of its turns was had before."""
    if all(each.answer.earlier is None for each in exchanges):
        return None
    first = [
        each.answer.earlier or Earlier(each.duration_s, each.answer.cost_usd) for each in exchanges
    ]
    return Earlier(
        _add_numbers([each.duration_s for each in first]),
        _add_numbers([each.cost_usd for each in first]),
    )


def _add_numbers(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return fsum(known) if known and len(known) == len(numbers) else None
