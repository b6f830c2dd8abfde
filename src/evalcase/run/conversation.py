"""A conversation with a target: turn by turn, each with all that was said before it. Out comes
what was said, or why it broke off.

What a target is shown of earlier turns is what it answered, and never what was expected of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from math import fsum
from typing import Any, NamedTuple, Protocol

from evalcase.model.answer import Answer
from evalcase.model.conversation import Exchange, Simulated, TalkEnd, sum_simulated
from evalcase.model.failure import Failure
from evalcase.model.message import Message
from evalcase.model.question import Question
from evalcase.model.simulated_user import SimulatedUser
from evalcase.model.value import replace
from evalcase.run.gate import Asked
from evalcase.text.readable import call_lines, content_text
from evalcase.text.step_text import list_steps

_LONGEST = 300
_MOST = 40
"""How much of what was said is told where a conversation broke off."""


class TurnAsker(Protocol):
    """The gate, as far as a conversation needs it."""

    @property
    def is_spent(self) -> bool: ...
    def ask_turn(
        self, name: str, question: Question, timeout_s: float | None, begun: int
    ) -> Awaitable[Asked]: ...
    def rest(self, seconds: float) -> Awaitable[None]: ...


class Words(NamedTuple):
    """What a user says next; or, where they say nothing more, how it ended."""

    messages: tuple[Message, ...] = ()
    ending: TalkEnd | None = None
    is_over: bool = False
    asked: Asked | None = None
    """What was asked of a target that plays the user."""
    failure: Failure | None = None
    """Why it could not be said."""


Speak = Callable[[Question], Awaitable[Words]]
"""Says what comes in a turn; the question has all that was said before it."""
Look = Callable[[Question, Exchange], Awaitable[TalkEnd | None]]
"""Looks at a turn that was answered, and says so if that is where it ends."""
Keep = Callable[[Asked], Answer | Failure]
"""What is kept of an answer, or why nothing can be."""


class Talk(NamedTuple):
    """What was said, turn by turn; and how it ended."""

    exchanges: tuple[Exchange, ...] = ()
    ending: TalkEnd | None = None
    failure: Failure | None = None
    """Why it broke off."""
    retried: tuple[Failure, ...] = ()
    interrupted: bool = False
    is_cut: bool = False
    """Whether there was no more money for the turns that are left."""
    again_in_s: float | None = None
    """How long to wait until it may be begun again; None if it may not."""
    simulated: tuple[Asked, ...] = ()
    """What was asked of whoever played the user."""

    @property
    def duration_s(self) -> float:
        return fsum(each.duration_s for each in self.exchanges)

    @property
    def spent_usd(self) -> float:
        said = [asked.answer for asked in self.simulated if asked.answer is not None]
        answers = [*[each.answer for each in self.exchanges], *said]
        return fsum(answer.cost_usd or 0.0 for answer in answers)

    def summed_up(self, user: SimulatedUser) -> Simulated:
        """What it took to play the user."""
        answers = [asked.answer for asked in self.simulated if asked.answer is not None]
        return sum_simulated(
            user.target, answers, fsum(asked.duration_s for asked in self.simulated)
        )


class Conversation:
    """One trial of a case in turns."""

    def __init__(
        self, asker: TurnAsker, target: str, first: Question, timeout_s: float | None, speak: Speak,
        look: Look, keep: Keep,
    ) -> None:  # fmt: skip
        """`first` is the question of the trial, with the messages before the first turn."""
        self._asker = asker
        self._target = target
        self._first = first
        self._timeout_s = timeout_s
        self._speak = speak
        self._look = look
        self._keep = keep
        self._exchanges: list[Exchange] = []
        self._simulated: list[Asked] = []
        self.lost_usd = 0.0
        """What was paid for turns of which nothing is left."""
        self.session = first.session
        """The one that it is in: a new one each time that it is begun."""

    async def hold(self, over: Callable[[str], Awaitable[None]]) -> Talk:
        """Have it, from the beginning again where that is worth a try. Nothing that a target does
        is raised. `over` is told of each session that is over."""
        retried: tuple[Failure, ...] = ()
        begun = 1
        while True:
            try:
                talk = await self._go_through(begun, retried)
            except BaseException:
                self.lost_usd += self._talk().spent_usd
                raise
            finally:
                await over(self.session)
            if talk.failure is not None or talk.is_cut or talk.interrupted:
                self.lost_usd += talk.spent_usd
            if talk.again_in_s is None:
                return talk
            retried = talk.retried
            await self._asker.rest(talk.again_in_s)
            begun += 1
            self.session = f"{self._first.session}.{begun}"

    async def _go_through(self, begun: int, retried: tuple[Failure, ...]) -> Talk:
        exchanges: list[Exchange] = []
        simulated: list[Asked] = []
        self._exchanges, self._simulated = exchanges, simulated
        messages = [*self._first.messages]
        while True:
            number = len(exchanges) + 1
            if exchanges and self._asker.is_spent:
                return self._talk(retried)._replace(is_cut=True)
            question = replace(
                self._first, messages=tuple(messages), turn=number, attempt=begun,
                session=self.session,
            )  # fmt: skip
            words = await self._speak(question)
            if words.asked is not None:
                simulated.append(words.asked)
                retried = (*retried, *[_in_turn(number, each) for each in words.asked.retried])
            if words.asked is not None and words.failure is not None:
                return self._broken(number, words.asked, words.failure, messages, retried)
            if words.is_over:
                return self._talk(retried)._replace(ending=words.ending)
            if words.asked is not None and self._asker.is_spent:
                return self._talk(retried)._replace(is_cut=True)
            messages += words.messages
            question = replace(question, messages=tuple(messages))
            asked = await self._asker.ask_turn(self._target, question, self._timeout_s, begun)
            retried = (*retried, *[_in_turn(number, each) for each in asked.retried])
            kept = self._keep(asked)
            if isinstance(kept, Failure):
                return self._broken(number, asked, kept, messages, retried)
            exchanges.append(Exchange(words.messages, kept, round(asked.duration_s, 6)))
            messages += kept.messages
            ending = await self._look(question, exchanges[-1])
            if ending is not None:
                return self._talk(retried)._replace(ending=ending)

    def _talk(self, retried: tuple[Failure, ...] = ()) -> Talk:
        """What there is of it so far."""
        return Talk(tuple(self._exchanges), retried=retried, simulated=tuple(self._simulated))

    def _broken(
        self, number: int, asked: Asked, failure: Failure, messages: Sequence[Message],
        retried: tuple[Failure, ...],
    ) -> Talk:  # fmt: skip
        failure = _in_turn(number, failure)
        if asked.again_in_s is not None:
            retried = (*retried, failure)
        said = messages[len(self._first.messages) :]
        more: dict[str, Any] = {"turn": number, "conversation": quote_messages(said)}
        more |= _steps_so_far(self._exchanges, failure, number)
        told = replace(failure, details={**failure.details, **more})
        return self._talk(retried)._replace(
            failure=told, interrupted=asked.interrupted, again_in_s=asked.again_in_s
        )


def _in_turn(number: int, failure: Failure) -> Failure:
    return replace(failure, message=f"turn {number}: {failure.message}")


def _steps_so_far(exchanges: Sequence[Exchange], failure: Failure, number: int) -> dict[str, Any]:
    """The steps of the turns that were answered, and of the one that was not, where any are
    known: a line each."""
    known = [list_steps(each.answer.steps, each.answer.steps_cut) for each in exchanges]
    last = failure.details.get("steps")
    known.append(last if isinstance(last, list) else [])
    lines = [
        line
        for turn, steps in enumerate(known[-_MOST:], max(1, number - _MOST + 1))
        if steps
        for line in (f"turn {turn}", *[f"  {step}" for step in steps])
    ]
    return {"steps": lines} if lines else {}


def quote_messages(messages: Sequence[Message]) -> list[str]:
    """What was said, a line each, for a person who looks for the cause."""
    lines = []
    for message in messages[-_MOST:]:
        said = content_text(message.content)
        for text in ([said] if said else []) + list(call_lines(message)):
            cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
            lines.append(f"{message.role}: {cut}")
    return lines


def follow_script(turns: Sequence[Sequence[Message]]) -> Speak:
    """A user who says what is written down, whatever is answered."""

    async def speak(so_far: Question) -> Words:
        number = so_far.turn
        return Words(tuple(turns[number - 1])) if number <= len(turns) else Words(is_over=True)

    return speak
