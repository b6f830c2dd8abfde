from __future__ import annotations

import asyncio
import threading

import pytest

from evalcase.system.guests import Guests
from evalcase.system.loop_watch import Culprit, LoopWatch


class Releasing(LoopWatch):
    """Lets the culprit go once it was seen."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(said.append, 0.001, 0.02)
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
    assert " blocked the event loop for 0." in line


def test_who_was_not_called_by_evalcase_is_not_its_business() -> None:
    said, culprits = asyncio.run(watch(by_guest=False))
    assert (said, culprits[0]) == ([], None)


@pytest.mark.parametrize("closed", [False, True])
def test_it_ends_with_what_it_watches(closed: bool) -> None:
    async def main() -> LoopWatch:
        watching = LoopWatch(pytest.fail, 0.001, 60.0).__enter__()
        if not closed:
            watching.__exit__()
        return watching

    asyncio.run(main())._over.wait()
