from __future__ import annotations

import asyncio
import re
import signal
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from evalcase.system.guest import Stay
from evalcase.system.guests import Guests
from evalcase.system.loop import run_to_end
from evalcase.system.loop_watch import Culprit, LoopWatch, OverdueError


class Releasing(LoopWatch):
    """Lets the culprit go once it was seen."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(said.append, period_s=0.001, long_s=0.02)
        self.seen = threading.Event()
        self.culprits: list[Culprit | None] = []

    def find_culprit(self) -> Culprit | None:
        self.culprits.append(super().find_culprit())
        self.seen.set()
        return self.culprits[-1]


async def watch(*, by_guest: bool, times: int = 1) -> tuple[list[str], list[Culprit | None]]:
    said: list[str] = []
    with Releasing(said) as watching:

        async def block() -> object:
            watching.seen.wait()
            watching.seen.clear()
            return "done"

        async with Guests() as guests:
            for _ in range(times):
                if by_guest:
                    await guests.run(block(), 60.0, "the-case")
                else:
                    await block()
                await asyncio.sleep(0.02)
    return said, watching.culprits


def test_who_blocks_the_loop_is_named_with_the_call_and_the_place_once() -> None:
    said, culprits = asyncio.run(watch(by_guest=True, times=3))
    assert len(culprits) >= 3
    (line,) = said
    assert line.startswith("the-case: `watch.<locals>.block` (")
    assert "test_loop_watch.py:" in line
    assert re.search(r" blocked the event loop for at least \d+\.\d s", line)


def test_a_second_is_too_long_whenever_it_begins() -> None:
    async def main() -> LoopWatch:
        return LoopWatch(pytest.fail, period_s=0.25, long_s=1.0)

    # It is asked for a sign of life a period after the last: by then it may have been blocked for
    # all of that.
    watching = asyncio.run(main())
    assert 0.25 + watching.silence_s == 1.0


def test_what_the_loop_had_no_time_to_tell_is_told_at_the_end() -> None:
    said: list[str] = []

    async def main() -> None:
        with LoopWatch(said.append) as watching:
            watching._untold.append("who")

    asyncio.run(main())
    assert said == ["who"]


def test_who_was_not_called_by_evalcase_is_not_its_business() -> None:
    said, culprits = asyncio.run(watch(by_guest=False))
    assert (said, culprits[0]) == ([], None)


async def end_overdue(code: Callable[[], Awaitable[object]], *, by_guest: bool = True) -> Stay:
    """What comes of code that blocks for longer than it may."""
    async with Guests(grace_s=0.01) as guests:
        with LoopWatch(lambda _: None, guests.is_overdue, period_s=0.01, long_s=0.01):
            if not by_guest:
                background = asyncio.create_task(ready(code()))
                stay = await guests.run(asyncio.sleep(60), 0.01, "other")
                assert isinstance(background.exception(), OverdueError)
                return stay
            return await guests.run(code(), 0.01, "the-case")


async def ready(awaitable: Awaitable[object]) -> object:
    return await awaitable


async def block_at_once() -> None:
    threading.Event().wait()


async def block_later() -> None:
    await asyncio.sleep(0)
    threading.Event().wait()


async def spin() -> None:
    while True:
        pass


async def insist() -> None:
    for _ in range(3):
        with suppress(OverdueError):
            threading.Event().wait()


@pytest.mark.parametrize("code", [block_at_once, block_later, spin, insist])
def test_who_blocks_the_loop_beyond_its_limit_is_ended(
    code: Callable[[], Awaitable[object]],
) -> None:
    before = signal.getsignal(signal.SIGURG)
    stay = run_to_end(end_overdue(code))
    assert stay.is_late
    assert stay.error is None or repr(stay.error).startswith("OverdueError(")
    assert signal.getsignal(signal.SIGURG) is before


def test_a_task_in_the_background_that_blocks_is_ended_when_all_others_have_had_their_time() -> (
    None
):
    assert run_to_end(end_overdue(block_at_once, by_guest=False)).is_late


def test_what_can_not_be_ended_is_told_of() -> None:
    stuck = threading.Event()
    said: list[str] = []

    def note(what: str) -> None:
        said.append(what)
        stuck.set()

    async def never_listen() -> None:
        while not stuck.is_set():
            with suppress(OverdueError):
                stuck.wait()

    async def main() -> None:
        async with Guests(grace_s=0.01) as guests:
            with LoopWatch(lambda _: None, guests.is_overdue, note, period_s=0.01, long_s=0.01):
                await guests.run(never_listen(), 0.01, "the-case")

    run_to_end(main())
    assert said[0].startswith("the-case: `")


def test_a_signal_that_somebody_else_uses_is_left_to_them() -> None:
    mine = lambda *_: None  # noqa: E731

    async def main() -> None:
        with LoopWatch(lambda _: None):
            assert signal.getsignal(signal.SIGURG) is mine

    before = signal.signal(signal.SIGURG, mine)
    try:
        run_to_end(main())
        assert signal.getsignal(signal.SIGURG) is mine
    finally:
        signal.signal(signal.SIGURG, before)


@pytest.mark.parametrize("closed", [False, True])
def test_it_ends_with_what_it_watches(closed: bool) -> None:
    async def main() -> LoopWatch:
        watching = LoopWatch(pytest.fail, period_s=0.001, long_s=60.0).__enter__()
        if not closed:
            watching.__exit__()
        return watching

    asyncio.run(main())._over.wait()
