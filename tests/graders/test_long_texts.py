"""Long texts are compared in a thread, which ends once nobody waits for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from evalcase.graders import text as text_graders
from evalcase.graders.text import SimilarityGrader
from evalcase.types.grade import Score
from tests.graders.expectation import answer_of, context_of


def test_long_texts_are_compared_elsewhere_and_alike() -> None:
    text = "abc " * 1000
    grader = SimilarityGrader("x" + text)

    async def grade() -> Score:
        later = grader.grade(context_of(answer_of("y" + text)))
        assert not isinstance(later, Score)
        return await later

    assert asyncio.run(grade()).reason == "1 character of 4,000 differ, similarity 0.9998"


def test_one_that_is_given_up_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def measure(*arguments: object) -> int:
        is_given_up = arguments[2]
        assert callable(is_given_up)
        while not is_given_up():
            pass
        ended.set()
        raise InterruptedError

    monkeypatch.setattr(text_graders, "edit_distance", measure)
    monkeypatch.setattr(text_graders, "_QUICK_CHARACTERS", -1)

    async def grade() -> None:
        later = SimilarityGrader("x").grade(context_of(answer_of("y")))
        assert not isinstance(later, Score)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await later

    asyncio.run(grade())
    assert ended.wait(30)
