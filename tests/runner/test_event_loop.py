"""An event loop that user code would like to end, or blocks."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from evalcase.runner.event_loop import BlockingCall, LoopWatch, run_async
from evalcase.util.user_calls import UserCalls
from tests.for_each import for_each


async def turns(count: int = 10) -> str:
    for _ in range(count):
        await asyncio.sleep(0)
    return "done"


def test_what_it_returns_or_raises() -> None:
    async def fail() -> None:
        raise ValueError("no")

    assert run_async(turns()) == "done"
    with pytest.raises(ValueError, match="no"):
        run_async(fail())


def exit_in_a_task() -> None:
    async def leave() -> None:
        sys.exit(0)

    asyncio.get_running_loop().create_task(leave())


def exit_in_a_callback() -> None:
    asyncio.get_running_loop().call_soon(sys.exit, 0)


@for_each("harm", [exit_in_a_task, exit_in_a_callback])
def test_an_exit_in_the_background_is_logged_and_ends_nothing(
    harm: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> str:
        harm()
        return await turns()

    assert run_async(main()) == "done"
    assert "SystemExit(0) was raised by user code outside of any trial" in caplog.text


def test_a_stopped_loop_is_no_success() -> None:
    ended: list[str] = []

    async def main() -> None:
        asyncio.get_running_loop().stop()
        try:
            await turns()
        finally:
            ended.append("tidied up")

    with pytest.raises(RuntimeError, match="was stopped by user code"):
        run_async(main())
    assert ended == ["tidied up"]


def test_tasks_and_generators_that_are_left_are_ended() -> None:
    ended: list[str] = []
    kept: list[object] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("task")

    async def generate() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            ended.append("generator")

    async def main() -> None:
        generator = generate()
        kept.extend([asyncio.create_task(wait()), generator])
        await anext(generator)
        await asyncio.sleep(0)

    run_async(main())
    assert sorted(ended) == ["generator", "task"]


def test_threads_and_tasks_that_do_not_end_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evalcase.runner.event_loop._END_S", 0.05)
    release = threading.Event()
    tasks: list[asyncio.Task[object]] = []

    async def stubborn() -> object:
        while not release.is_set():
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue
        return None

    async def main() -> str:
        tasks.append(asyncio.create_task(stubborn()))
        tasks.append(asyncio.create_task(asyncio.to_thread(release.wait)))
        return await turns()

    try:  # to wait for either would make the test hang
        assert run_async(main()) == "done"
    finally:
        release.set()


def test_ctrl_c_cancels_and_is_raised_at_the_end() -> None:
    ended: list[str] = []

    async def main() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("tidied up")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_async(main())
        assert ended == ["tidied up"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_user_code_that_blocks_the_loop_is_named_once_it_is_over() -> None:
    said: list[str] = []

    class Releasing(LoopWatch):
        """Lets the function go once it was seen."""

        def find_blocking_call(self) -> BlockingCall | None:
            found = super().find_blocking_call()
            release.set()
            return found

    release, spoken = threading.Event(), threading.Event()

    def say(line: str) -> None:
        said.append(line)
        spoken.set()

    async def block() -> None:
        release.wait()

    async def main() -> None:
        async with UserCalls() as calls:
            with Releasing(say, period_s=0.001, long_s=0.02):
                await calls.run(block, 60.0, "the-case")
                await asyncio.to_thread(spoken.wait, 60)

    run_async(main())
    # A machine under load may hold the loop up at other times, too.
    line = next(each for each in said if "block` (" in each)
    assert line.startswith("the-case: `")
    assert "test_event_loop.py:" in line
    assert " blocked the event loop for at least " in line


@for_each("in_background", [False, True])
def test_a_call_that_blocks_beyond_its_limit_is_reported(in_background: bool) -> None:
    reported: list[BlockingCall] = []
    release = threading.Event()

    def report(call: BlockingCall) -> None:
        reported.append(call)
        release.set()

    async def block() -> None:
        if in_background:
            asyncio.create_task(block_task())  # noqa: RUF006 - it ends before the test does
            await asyncio.sleep(60)
        release.wait()

    async def block_task() -> None:
        release.wait()

    async def main() -> bool:
        async with UserCalls(grace_s=0.01) as calls:
            watch = LoopWatch(lambda _: None, calls.is_overdue, report, period_s=0.01, long_s=0.01)
            with watch:
                return (await calls.run(block, 0.01, "the-case")).is_late

    assert run_async(main())
    # A task in the background was not called by evalcase, but nothing else can be named.
    assert len(reported) == 1
