"""A user whom another target plays: asked, before each turn, what they say next."""

from __future__ import annotations

from evalcase.model.failure import Failure
from evalcase.model.message import Message
from evalcase.model.question import Question
from evalcase.model.simulated_user import SimulatedUser
from evalcase.model.value import replace
from evalcase.run.conversation import TurnAsker, Words
from evalcase.run.gate import Asked
from evalcase.run.sessions import user_session
from evalcase.run.user_prompt import DONE, show_user

_NOTHING = "it said nothing"
_AT_ONCE = "it ended the conversation before it said anything"


class UserSide:
    """Speaks for the user of one conversation. It remembers nothing: all is in what was said."""

    def __init__(self, asker: TurnAsker, user: SimulatedUser) -> None:
        self._asker = asker
        self._user = user

    async def __call__(self, so_far: Question) -> Words:
        """What the user says in a turn, after all that was said before it."""
        user = self._user
        if so_far.turn > user.max_turns:
            return Words(ending="max_turns", is_over=True)
        if so_far.turn == 1 and user.first:
            return Words(user.first)
        question = replace(
            so_far, messages=show_user(user, so_far.messages), files={},
            session=user_session(so_far.session), hash="",
        )  # fmt: skip
        asked = await self._asker.ask_turn(user.target, question, None, so_far.attempt)
        return self._read(asked, so_far)

    def _read(self, asked: Asked, so_far: Question) -> Words:
        if asked.answer is None:
            assert asked.failure is not None
            return Words(asked=asked, failure=self._named(asked.failure))
        text = asked.answer.text
        if text.strip() == DONE:
            if so_far.turn > 1:
                return Words(ending="done", is_over=True, asked=asked)
            return Words(asked=asked, failure=self._named(Failure("protocol", _AT_ONCE)))
        if not text.strip():
            return Words(asked=asked, failure=self._named(Failure("protocol", _NOTHING)))
        return Words((Message({"role": "user", "content": text}),), asked=asked)

    def _named(self, failure: Failure) -> Failure:
        """A failure of whoever plays the user, which is none of the target."""
        return replace(failure, message=f"the user, `{self._user.target}`: {failure.message}")
