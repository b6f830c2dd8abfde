from __future__ import annotations

import asyncio
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import pytest

from evalcase.system.threads import Threads
from evalcase.text.crash import failure_of

WHO: ContextVar[str] = ContextVar("WHO", default="nobody")


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads("evalcase-test")
    yield made
    made.close()


async def several(threads: Threads, count: int, function: Callable[[], object]) -> list[object]:
    """One after the other, so that the loop comes to trust in the function."""
    return [await threads.call(function) for _ in range(count)]


class Waits:
    """A function that waits until it is let go, and knows its thread."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.go = threading.Event()
        self.thread: threading.Thread | None = None

    def __call__(self) -> bool:
        self.thread = threading.current_thread()
        self.started.set()
        return self.go.wait(60)

    def is_gone(self) -> bool:
        assert self.thread is not None
        self.thread.join(60)
        return not self.thread.is_alive()


def fails() -> None:
    raise ValueError("no")


def stops() -> None:
    raise StopIteration


def exits() -> None:
    raise SystemExit(3)


@pytest.mark.parametrize("before", [0, 5])
def test_what_it_returns_comes_back(threads: Threads, before: int) -> None:
    numbers = iter(range(100))
    values = asyncio.run(several(threads, before + 3, lambda: next(numbers)))
    assert values == list(range(before + 3))


@pytest.mark.parametrize("before", [0, 5])
def test_what_it_raises_is_raised(threads: Threads, before: int) -> None:
    async def run() -> None:
        await several(threads, before, int)
        await threads.call(fails)

    with pytest.raises(ValueError, match="no") as caught:
        asyncio.run(run())
    assert caught.traceback[-1].name == "fails"


@pytest.mark.parametrize(("function", "said"), [(stops, "StopIteration"), (exits, "SystemExit: 3")])
def test_what_would_end_the_loop_does_not_and_keeps_its_name(
    threads: Threads, function: Callable[[], None], said: str
) -> None:
    with pytest.raises(RuntimeError) as caught:
        asyncio.run(threads.call(function))
    assert caught.traceback[-1].name == function.__name__
    assert traceback.format_exception_only(caught.value)[-1].strip() == said
    assert failure_of(caught.value).message == said


def test_a_call_sees_the_context_of_its_caller(threads: Threads) -> None:
    async def run() -> list[object]:
        WHO.set("me")
        return await several(threads, 5, WHO.get)

    assert asyncio.run(run()) == ["me"] * 5


@pytest.mark.parametrize("before", [0, 5])
def test_calls_that_block_run_side_by_side(threads: Threads, before: int) -> None:
    barrier = threading.Barrier(10, timeout=60)

    async def run() -> list[object]:
        await several(threads, before, int)
        return list(await asyncio.gather(*(threads.call(barrier.wait) for _ in range(10))))

    assert set(asyncio.run(run())) == set(range(10))


@pytest.mark.parametrize("before", [0, 5])
def test_a_call_that_hangs_is_given_up_and_the_next_one_made(threads: Threads, before: int) -> None:
    never = threading.Event()

    async def run() -> object:
        await several(threads, before, int)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(threads.call(never.wait), 0.05)
        return await threads.call(lambda: "next")

    assert asyncio.run(run()) == "next"
    never.set()


def test_there_are_no_more_threads_than_calls_at_once(threads: Threads) -> None:
    async def run() -> set[object]:
        rounds = (several(threads, 200, threading.get_ident) for _ in range(10))
        return {thread for round_ in await asyncio.gather(*rounds) for thread in round_}

    assert len(asyncio.run(run())) <= 10


def test_a_thread_that_comes_back_late_is_used_again(threads: Threads) -> None:
    late = threading.Event()

    async def run() -> set[object]:
        slow = asyncio.create_task(threads.call(lambda: late.wait(60) and threading.get_ident()))
        await asyncio.sleep(0)
        other = await threads.call(threading.get_ident)
        late.set()
        return {await slow, other, await threads.call(threading.get_ident)}

    assert len(asyncio.run(run())) == 2


def test_the_loop_goes_on_while_a_call_is_slow(threads: Threads) -> None:
    """Also after many quick calls have made it trust in the next."""
    seen = threading.Event()

    async def run() -> object:
        await several(threads, 20, int)
        slow = asyncio.create_task(threads.call(lambda: seen.wait(60)))
        await asyncio.sleep(0)
        seen.set()  # what the call waits for: were the loop held up, this would never come
        return await slow

    assert asyncio.run(run()) is True


async def at_once(threads: Threads, *functions: Callable[[], object]) -> list[object]:
    """All in one turn of the loop."""
    return list(await asyncio.gather(*(threads.call(function) for function in functions)))


async def share_a_thread(threads: Threads, tries: int = 500) -> bool:
    """Whether quick calls of one turn come to share a thread. On a busy machine a quick call may
    take long at times, and make the loop doubt."""
    for _ in range(tries):
        if len(set(await at_once(threads, *[threading.get_ident] * 20))) == 1:
            return True
    return False


def test_the_calls_of_one_turn_share_a_thread_while_they_are_quick(threads: Threads) -> None:
    assert asyncio.run(share_a_thread(threads))


def test_slow_calls_get_threads_of_their_own(threads: Threads) -> None:
    async def run() -> list[object]:
        await threads.call(time.sleep, 0.02)
        barrier = threading.Barrier(5, timeout=15)
        return await at_once(threads, *[barrier.wait] * 5)

    assert set(asyncio.run(run())) == set(range(5))


@pytest.mark.parametrize("place", [0, 150, 299])
def test_one_hanging_call_of_hundreds_holds_up_no_other(threads: Threads, place: int) -> None:
    never = threading.Event()

    async def run() -> list[object]:
        calls = [threads.call(never.wait if at == place else int) for at in range(300)]
        tasks = [asyncio.create_task(call) for call in calls]
        others = await asyncio.gather(*tasks[:place], *tasks[place + 1 :])
        assert not tasks[place].done()
        tasks[place].cancel()
        return others

    assert asyncio.run(run()) == [0] * 299
    never.set()


def test_a_call_that_was_given_up_before_its_turn_is_not_made(threads: Threads) -> None:
    made: list[int] = []

    async def run() -> object:
        task = asyncio.create_task(threads.call(made.append, 1))
        other = asyncio.create_task(threads.call(lambda: "other"))
        asyncio.get_running_loop().call_soon(task.cancel)
        return await other

    assert asyncio.run(run()) == "other"
    assert made in ([], [1]), "whether it was begun by then is up to the loop"


def test_errors_of_one_call_are_nobody_elses(threads: Threads) -> None:
    async def run() -> list[object]:
        calls = (threads.call(fails if at % 2 else int) for at in range(10))
        return list(await asyncio.gather(*calls, return_exceptions=True))

    outcomes = asyncio.run(run())
    assert outcomes[::2] == [0] * 5
    assert [str(error) for error in outcomes[1::2]] == ["no"] * 5


def test_the_loop_trusts_again_after_quick_calls(threads: Threads) -> None:
    async def run() -> bool:
        await threads.call(time.sleep, 0.02)
        return await share_a_thread(threads)

    assert asyncio.run(run())


def test_one_loop_after_the_other_may_use_them(threads: Threads) -> None:
    assert [asyncio.run(several(threads, 3, int)) for _ in range(3)] == [[0, 0, 0]] * 3


def test_closing_ends_the_threads() -> None:
    threads = Threads("evalcase-test")
    threads_seen = asyncio.run(several(threads, 5, threading.current_thread))
    threads.close()
    for thread in threads_seen:
        assert isinstance(thread, threading.Thread)
        thread.join(60)
        assert not thread.is_alive()


def test_a_thread_that_is_busy_when_they_are_closed_ends_later() -> None:
    threads, waits = Threads("evalcase-test"), Waits()

    async def run() -> None:
        task = asyncio.create_task(threads.call(waits))
        await asyncio.sleep(0)
        threads.close()
        waits.go.set()
        await task

    asyncio.run(run())
    assert waits.is_gone()


def test_a_thread_ends_where_nobody_waits_any_more() -> None:
    threads, waits = Threads("evalcase-test"), Waits()

    async def run() -> None:
        task = asyncio.create_task(threads.call(waits))
        await asyncio.to_thread(waits.started.wait, 60)
        task.cancel()

    asyncio.run(run())
    waits.go.set()
    assert waits.is_gone()
