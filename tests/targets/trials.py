"""Trials and runs of targets as the engine has them, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.trial import Trial
from evalcase.targets import Target

LIMIT_S = 60.0
"""No answer in these tests takes nearly as long."""


def trial(
    input: str | list[dict[str, Any]] = "Hi", *, suite: str = "suite.yaml", id: str = "one",
    repeat: int = 1, **fields: Any,
) -> Trial:  # fmt: skip
    messages = [{"role": "user", "content": input}] if isinstance(input, str) else input
    return Trial(suite, Case({"id": id, "input": messages, **fields}), "target", repeat)


async def answer_all(
    target: Target, trials: Iterable[Trial], limit_s: float = LIMIT_S
) -> list[Answer | BaseException]:
    """One after the other; what is raised stands in the place of an answer."""
    answers: list[Answer | BaseException] = []
    try:
        await target.open()
        for each in trials:
            try:
                async with asyncio.timeout(limit_s):
                    answers.append(await target.answer(each))
            except Exception as error:  # noqa: BLE001 - as the engine does
                answers.append(error)
    finally:
        async with asyncio.timeout(LIMIT_S):
            await target.close()
    return answers


def ask(target: Target, given: Trial | None = None, limit_s: float = LIMIT_S) -> Answer:
    """The answer to one trial; what is raised is raised."""
    (answer,) = asyncio.run(answer_all(target, [given or trial()], limit_s))
    if isinstance(answer, BaseException):
        raise answer
    return answer
