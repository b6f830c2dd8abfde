import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

import pytest

from evalcase.errors import TargetError
from evalcase.runner import calls as opening
from evalcase.runner.calls import OpenTargets
from evalcase.runner.event_loop import run_async
from evalcase.types.answer import Answer
from evalcase.types.target import Question, Target
from evalcase.util.user_calls import UserCalls
from tests.for_each import for_each

Step = Callable[[], Awaitable[None]]
SEEN: ContextVar[str] = ContextVar("SEEN", default="")


async def nothing() -> None:
    return


async def never() -> None:
    await asyncio.Event().wait()


async def stubborn() -> None:
    while True:
        try:
            await never()
        except asyncio.CancelledError:
            continue


async def fail() -> None:
    raise OSError("gone")


async def leave() -> None:
    sys.exit(0)


async def cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


class Steps(Target):
    """A target that does as it is told, and in which task."""

    def __init__(self, opens: Step = nothing, closes: Step = nothing) -> None:
        self.opens = opens
        self.closes = closes
        self.tasks: list[object] = []
        self.begun = asyncio.Event()

    async def open(self) -> None:
        self.tasks.append(asyncio.current_task())
        self.begun.set()
        SEEN.set("by set-up")
        await self.opens()

    async def answer(self, question: Question) -> Answer:
        raise AssertionError(question)

    async def close(self) -> None:
        self.tasks.append(asyncio.current_task())
        await self.closes()


def opened(_: Target) -> None:
    """Nobody asked."""


async def go_through(target: Target, said: list[str]) -> OpenTargets:
    async with UserCalls(grace_s=0.05) as calls:
        targets = OpenTargets({"it": target}, lambda _: target, said.append, opened, calls)
        async with targets:
            assert targets.by_name == {"it": target}
        return targets


@pytest.mark.parametrize(
    ("closes", "word"),
    [
        (never, "took more than 0.05 s and was given up"),
        (stubborn, "took more than 0.05 s and was given up"),
        (fail, "failed: OSError('gone')"),
        (leave, "failed: SystemExit(0)"),
        (cancel_itself, "failed: CancelledError()"),
    ],
)
def test_tear_down_that_hangs_or_fails_is_given_up_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, closes: Step, word: str
) -> None:
    if closes in (never, stubborn):  # others get the time that they need on a busy machine
        monkeypatch.setattr(opening, "CLOSE_S", 0.05)
    said: list[str] = []
    run_async(go_through(Steps(closes=closes), said))
    assert [text.partition(" (/")[0] for text in said] == [f"`it`: tear-down {word}"]


@for_each(
    ("opens", "word"),
    [
        (fail, "OSError: gone"),
        (leave, "SystemExit: 0"),
        (cancel_itself, "CancelledError: "),
    ],
)
def test_set_up_that_fails_in_any_way_is_an_error(opens: Step, word: str) -> None:
    target = Steps(opens)
    with pytest.raises(TargetError, match=f"a target could not be set up: {word}"):
        run_async(go_through(target, []))
    assert len(target.tasks) == 2, "it is torn down all the same"


def test_set_up_and_tear_down_are_in_one_task() -> None:
    target, said = Steps(), list[str]()
    targets = run_async(go_through(target, said))
    assert (said, target.tasks[0] is target.tasks[1]) == ([], True)
    assert targets.context.run(SEEN.get) == "by set-up", "what it set is seen by who answers"
