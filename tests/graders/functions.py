"""Functions that the tests of the Python grader name, good and bad."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.grade import Score

seen: dict[str, Any] = {}


def takes_all(
    answer: Any, text: Any, output: Any, messages: Any, case: Any,
    *, input: Any, expected: Any, metadata: Any, tool_calls: Any, question: Any, context: Any,
    odd: int = 3, **more: Any,
) -> bool:  # fmt: skip
    seen.update(locals())
    return True


def is_short(text: str) -> bool:
    return len(text) < 10


async def is_short_async(text: str) -> bool:
    await asyncio.sleep(0)
    return len(text) < 10


def gives_coroutine(text: str) -> Any:
    return is_short_async(text)


@dataclass
class Longer:
    """Not hashable, and called like a function."""

    than: int

    def __call__(self, text: str) -> float:
        return float(len(text) > self.than)


longer = Longer(3)


def returns(output: Any) -> Any:
    """What the test wants: the content of the answer names it."""
    return RETURNED[output]


RETURNED: dict[str, Any] = {}


def compares(answer: Answer, case: Case, expected: str) -> Score:
    passed = answer.text == expected
    return Score(float(passed), f"{case.id} compared", {"n": 1})


def hangs(text: str) -> bool:
    if text == "hang":
        threading.Event().wait(60)
    return True


PARTIES = 20
_meeting = threading.Barrier(PARTIES)


def meets_others() -> bool:
    """Comes to its end only when all others have begun."""
    _meeting.wait(30)
    return True


def at_least(text: str, least: int, *, words: list[str] | None = None) -> bool:
    if words is not None:
        words.append("changed")
    return len(text) >= least


def takes_more(text: str, **more: Any) -> bool:
    return bool(text == more["wanted"])


def wants(response: str) -> bool:
    return bool(response)


constant = 4


def counts_grades(grades: Any) -> str:
    return ", ".join(f"{each.grader} {'passed' if each.passed else 'failed'}" for each in grades)
