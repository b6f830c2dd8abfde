"""Where trials are answered, if that is not this process: a question in, an attempt out.

Pace, retries, budget, cache and record stay here, whichever place it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from evalcase.errors import TargetError
from evalcase.runner.attempt import Attempted
from evalcase.types.answer import Answer
from evalcase.types.grade import Grade
from evalcase.types.grader import Context, NamedGrader
from evalcase.types.question import Question
from evalcase.types.target import Target
from evalcase.types.value import JSON


class SessionLostError(TargetError):
    """Who held a session has ended. It is begun again, whatever is said of retries: nothing says
    that its target had any part in it."""


class KeyFromAfar(NamedTuple):
    """All that decides an answer, as a target elsewhere says, with the kind of that target."""

    kind: str
    described: JSON


class Workplace(Protocol):
    """Processes that answer, be they on this machine or on others. It is open while entered."""

    async def __aenter__(self) -> Workplace: ...
    async def __aexit__(self, *_: object) -> None: ...

    def stand_in(self, name: str) -> Target:
        """What tells of a target that is made there: its traits, once it is open."""
        ...

    async def attempt(self, name: str, question: Question, limit_s: float) -> Attempted:
        """Call a target once. Nothing that it does is raised."""
        ...

    def must_grade(self, answer: Answer, graders: Sequence[NamedGrader]) -> bool:
        """Whether an answer has to be graded there: code is called for it, or the answer that came
        here is not what was answered, since a secret was taken out of it."""
        ...

    async def grade(
        self, context: Context, graders: Sequence[NamedGrader], limit_s: float
    ) -> tuple[Grade, ...]:
        """The grades of an answer, in the order of the case's graders. What graders ask goes back
        through the asker of the context. The limit is for those that have none of their own."""
        ...
