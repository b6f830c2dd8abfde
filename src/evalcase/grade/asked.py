"""What a grader asks of targets, counted apart from what the trial itself asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import fsum

from evalcase.model.answer import Answer, sum_usage
from evalcase.model.grade import Grade
from evalcase.model.grader import Asker, Usable
from evalcase.model.json_value import JSON
from evalcase.model.message import Message
from evalcase.model.value import replace
from evalcase.system.queue_time import QueueTime


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
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            with self.queue.counting():
                answer = await self._asker(target, messages, schema, usable)
        finally:
            self._seconds += max(clock() - began, 0.0)  # a loop of the user's may have any
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
