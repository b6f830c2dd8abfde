"""An event loop that others would like to end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from evalcase.system.loop import LoopBrokenError, LoopStoppedError, run_to_end
from tests.for_each import for_each


async def turns(count: int = 10) -> str:
    for _ in range(count):
        await asyncio.sleep(0)
    return "done"


def test_what_it_returns_or_raises() -> None:
    async def fail() -> None:
        raise ValueError("no")

    assert run_to_end(turns()) == "done"
    with pytest.raises(ValueError, match="no"):
        run_to_end(fail())


async def exit_task() -> None:
    sys.exit(0)


def exit_in_a_task() -> None:
    asyncio.get_running_loop().create_task(exit_task())


def exit_in_a_callback() -> None:
    asyncio.get_running_loop().call_soon(sys.exit, 0)


def exit_in_several() -> None:
    for _ in range(3):
        exit_in_a_callback()


def interrupt_in_a_callback() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    asyncio.get_running_loop().call_soon(interrupt)


def stop() -> None:
    asyncio.get_running_loop().stop()


def cancel_everything() -> None:
    for task in asyncio.all_tasks():
        asyncio.Task.cancel(task)


def exit_again_and_again() -> None:
    asyncio.get_running_loop().call_soon(exit_again_and_again)
    sys.exit(0)


def exit_whenever_there_is_something_to_read() -> None:
    for _ in range(3):
        reader, writer = os.pipe()
        os.write(writer, b"x")
        asyncio.get_running_loop().add_reader(reader, sys.exit, reader)


def let_no_task_be_made() -> None:
    asyncio.get_running_loop().set_task_factory(lambda *_, **__: sys.exit(0))


@for_each(
    ("harm", "told"),
    [
        (exit_in_a_task, [SystemExit]),
        (exit_in_a_callback, [SystemExit]),
        (exit_in_several, [SystemExit]),
        (lambda: asyncio.get_running_loop().call_soon(exit_again_and_again), [SystemExit]),
        (exit_whenever_there_is_something_to_read, [SystemExit] * 3),
        (let_no_task_be_made, []),
        (interrupt_in_a_callback, [KeyboardInterrupt]),
        (stop, [LoopStoppedError]),
        (cancel_everything, []),
    ],
)
def test_what_leaves_the_loop_is_told_and_the_loop_goes_on(
    harm: Callable[[], None], told: list[type[BaseException]]
) -> None:
    async def main() -> str:
        harm()
        return await turns()

    strays: list[BaseException] = []
    assert run_to_end(main(), strays.append) == "done"
    assert [type(stray) for stray in strays] == told


def test_a_callback_that_always_says_something_else_is_told_of_a_few_times() -> None:
    def complain(number: int) -> None:
        asyncio.get_running_loop().call_soon(complain, number + 1)
        sys.exit(number)

    async def main() -> str:
        asyncio.get_running_loop().call_soon(complain, 0)
        return await turns(100)

    strays: list[BaseException] = []
    assert run_to_end(main(), strays.append) == "done"
    assert len(strays) == 10


def test_a_loop_whose_descriptors_are_closed_is_an_error_and_no_hang() -> None:
    async def main() -> None:
        os.close(asyncio.get_running_loop()._selector.fileno())  # type: ignore[attr-defined]
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("tidied up")

    ended: list[str] = []
    with pytest.raises(LoopBrokenError, match="OSError"):
        run_to_end(main())
    assert ended == ["tidied up"]


def test_a_loop_that_nothing_can_wake_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalcase.system.loop._BEAT_S", 0.01)

    async def main() -> None:
        # It sees only when it turns that this is closed, and nobody has it turn.
        number = asyncio.get_running_loop()._selector.fileno()  # type: ignore[attr-defined]
        threading.Timer(0.05, os.close, (number,)).start()
        await asyncio.Event().wait()

    with pytest.raises(LoopBrokenError):
        run_to_end(main())


def test_tasks_and_generators_of_others_are_ended() -> None:
    ended: list[str] = []

    async def wait(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async def generate() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            ended.append("generator")

    kept = []

    async def main() -> None:
        kept.append(asyncio.create_task(wait("task")))
        generator = generate()
        kept.append(generator)  # type: ignore[arg-type]
        await anext(generator)

    run_to_end(main())
    assert sorted(ended) == ["generator", "task"]


def test_nobody_is_waited_for_who_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalcase.system.loop._END_S", 0.05)
    release = threading.Event()

    async def stubborn() -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                sys.exit(0)

    async def main() -> str:
        tasks.append(asyncio.create_task(stubborn()))
        threads.append(asyncio.create_task(asyncio.to_thread(release.wait)))
        return await turns()

    tasks: list[asyncio.Task[None]] = []
    threads: list[asyncio.Task[bool]] = []
    try:  # whoever is waited for would make the test hang
        assert run_to_end(main()) == "done"
    finally:
        release.set()
    assert all(task.done() for task in (*tasks, *threads))


def test_ctrl_c_gives_up_and_is_raised_at_the_end() -> None:
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
            run_to_end(main())
        assert ended == ["tidied up"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
