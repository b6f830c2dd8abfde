"""What a grader asks of targets, counted apart from what the trial itself asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from evalcase.types.answer import Answer, sum_usage
from evalcase.types.grade import Grade
from evalcase.types.grader import Asker, Usable
from evalcase.types.message import Message
from evalcase.types.value import JSON, replace
from evalcase.util.environment import monotonic
from evalcase.util.user_calls import QueueTime


class Asking:
    """Passes questions on, and remembers what their answers took."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._answers: list[Answer] = []
        self._seconds = 0.0
        self.queue = QueueTime()
        """How long its questions waited for their turn."""

    async def ask(
        self, target: str, messages: Sequence[Message], schema: JSON, usable: Usable | None
    ) -> Answer:
        began = monotonic()
        try:
            with self.queue.counting():
                answer = await self._asker(target, messages, schema, usable)
        finally:
            self._seconds += monotonic() - began
        self._answers.append(answer)
        return answer

    def put_on(self, grade: Grade) -> Grade:
        """The grade, with what it took."""
        if not self._answers:
            return grade
        costs = [answer.cost_usd for answer in self._answers]
        known = [cost for cost in costs if cost is not None]
        return replace(
            grade,
            asked=len(costs),
            usage=sum_usage([answer.usage for answer in self._answers]),
            cached=sum(answer.cached for answer in self._answers),
            asking_s=round(self._seconds, 6),
            cost_usd=fsum(known) if len(known) == len(costs) else None,
        )
