"""Calls in threads as guests: they have no task, and are no less bounded for that."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from itertools import chain, repeat
from time import perf_counter

import pytest

from evalcase.system.guest import Stay
from evalcase.system.guests import Guests
from evalcase.system.threads import PlainCall, Threads

LIMIT_S = 20.0
HERE: ContextVar[str] = ContextVar("HERE", default="nothing")


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads("evalcase-test")
    yield made
    made.close()


def as_it_is(value: object) -> object:
    return value


async def host(*calls: PlainCall[object], limits_s: Sequence[float] = ()) -> list[Stay]:
    """What comes of the calls; limits are those of the first ones."""
    limits = chain(limits_s, repeat(LIMIT_S))
    async with Guests(0.02) as guests:
        return await guests.run_all(
            [(call, limit_s, None) for call, limit_s in zip(calls, limits, strict=False)], "x"
        )


def test_what_it_returns_is_read(threads: Threads) -> None:
    (stay,) = asyncio.run(
        host(threads.plan(lambda value: value + 1, lambda a, *, b: a - b, 7, b=5))
    )
    assert (stay.value, stay.error, stay.is_late) == (3, None, False)


def test_no_task_is_made_for_it(threads: Threads) -> None:
    tasks: set[int] = set()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        await host(threads.plan(as_it_is, lambda: tasks.add(len(asyncio.all_tasks(loop)))))

    asyncio.run(run())
    assert tasks == {1}


def raising(error: BaseException) -> Callable[[], object]:
    def function() -> object:
        raise error

    return function


@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(3), StopIteration(), KeyboardInterrupt()]
)
def test_whatever_it_raises_is_its_own(threads: Threads, error: BaseException) -> None:
    bad, good = asyncio.run(
        host(threads.plan(as_it_is, raising(error)), threads.plan(as_it_is, lambda: "well"))
    )
    assert type(error).__name__ in repr(bad.error)
    assert good.value == "well"


def test_what_reading_raises_is_its_own(threads: Threads) -> None:
    def read(_: object) -> object:
        raise SystemExit(3)

    (stay,) = asyncio.run(host(threads.plan(read, int)))
    assert repr(stay.error) == "SystemExit(3)"


def test_one_that_hangs_is_given_up_at_its_limit(threads: Threads) -> None:
    never = threading.Event()
    stays = asyncio.run(
        host(threads.plan(as_it_is, never.wait), threads.plan(as_it_is, int), limits_s=[0.05])
    )
    never.set()
    assert [(stay.value, stay.is_late) for stay in stays] == [(None, True), (0, False)]


def test_an_awaitable_that_it_returns_is_awaited_as_a_guest(threads: Threads) -> None:
    async def later() -> object:
        await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        return task.get_name()

    async def exits() -> object:
        raise SystemExit(3)

    stays = asyncio.run(host(threads.plan(as_it_is, later), threads.plan(as_it_is, exits)))
    assert stays[0].value == "x"
    assert repr(stays[1].error) == "SystemExit(3)"


def test_awaitables_that_several_return_are_waited_for_together(threads: Threads) -> None:
    async def run() -> list[object]:
        barrier = asyncio.Barrier(2)
        stays = await host(*[threads.plan(as_it_is, barrier.wait) for _ in range(2)])
        return sorted([stay.value for stay in stays], key=str)

    assert asyncio.run(run()) == [0, 1]


def test_an_awaitable_that_hangs_is_given_up_at_the_same_limit(threads: Threads) -> None:
    async def never() -> object:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    (stay,) = asyncio.run(host(threads.plan(as_it_is, never), limits_s=[0.05]))
    assert stay.is_late


def test_a_call_that_was_not_begun_when_its_host_was_cancelled_is_not_made(
    threads: Threads,
) -> None:
    made: list[int] = []

    async def run() -> None:
        async with Guests() as guests:
            task = asyncio.create_task(guests.run(threads.plan(as_it_is, made.append, 1), 20, "x"))
            asyncio.get_running_loop().call_soon(task.cancel)
            with pytest.raises(asyncio.CancelledError):
                await task
            await threads.call(int)

    asyncio.run(run())
    assert made == []


def test_what_a_call_left_to_wait_for_does_not_wait_for_slower_ones(threads: Threads) -> None:
    async def run() -> list[Stay]:
        begun = threading.Event()

        async def begin() -> None:
            begun.set()

        return await host(threads.plan(as_it_is, begun.wait, 60), threads.plan(as_it_is, begin))

    slow, _ = asyncio.run(run())
    assert slow.value is True


def test_it_sees_the_context_of_who_asked_and_changes_only_its_own(threads: Threads) -> None:
    def function() -> str:
        before = HERE.get()
        HERE.set("a guest")
        return before

    async def run() -> list[object]:
        HERE.set("a host")
        stays = [(await host(threads.plan(as_it_is, function)))[0].value for _ in range(2)]
        return [*stays, HERE.get()]

    assert asyncio.run(run()) == ["a host"] * 3


def test_its_time_is_its_own(threads: Threads) -> None:
    """Not that of others which were made in the same thread before."""
    go = threading.Event()
    threading.Timer(0.05, go.set).start()
    ended = []

    def wait() -> None:
        go.wait(60)
        ended.append(perf_counter())

    slow, quick = asyncio.run(host(threads.plan(as_it_is, wait), threads.plan(as_it_is, int)))
    assert 0 <= quick.took_s <= perf_counter() - ended[0]
    assert slow.took_s > 0
