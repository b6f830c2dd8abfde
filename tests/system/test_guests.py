"""Awaited code that does all it can to be a nuisance, and what its host sees of that."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import pytest

from evalcase.system.guest import Stay
from evalcase.system.guests import Guests
from tests.for_each import for_each

Code = Callable[[], Awaitable[object]]
LIMIT_S = 20.0
HERE: ContextVar[str] = ContextVar("HERE", default="nothing")


def run(code: Code, limit_s: float = LIMIT_S, grace_s: float = 0.02) -> Stay:
    return asyncio.run(host(code, limit_s, grace_s))


async def host(code: Code, limit_s: float = LIMIT_S, grace_s: float = 0.02) -> Stay:
    async with Guests(grace_s) as guests:
        return await guests.run(code(), limit_s, "x")


async def at_once() -> object:
    return 3


async def later() -> object:
    await asyncio.sleep(0)
    return 3


async def from_a_future() -> object:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    future.get_loop().call_soon(future.set_result, 3)
    return await future


@for_each("code", [at_once, later, from_a_future])
def test_what_it_returns(code: Code) -> None:
    stay = run(code)
    assert (stay.value, stay.error, stay.is_late) == (3, None, False)


def test_guests_within_guests_that_are_over_at_once_leave_no_task_behind() -> None:
    told: list[str] = []

    async def go() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(context["message"]))
        async with Guests() as guests:

            async def within(depth: int) -> int:
                if depth:
                    await guests.run(within(depth - 1), LIMIT_S, "x")
                return depth

            for _ in range(3):
                assert (await guests.run(within(2), LIMIT_S, "x")).value == 2
            await asyncio.sleep(0)  # what is spare has begun by now
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        gc.collect()

    asyncio.run(go())
    assert told == []


def test_any_awaitable_will_do() -> None:
    class Odd:
        def __await__(self) -> Any:
            return asyncio.sleep(0, 3).__await__()

    assert run(Odd).value == 3


def raising(error: BaseException, waits: bool) -> Code:
    async def code() -> object:
        if waits:
            await asyncio.sleep(0)
        raise error

    return code


ERRORS = [
    ValueError("no"), SystemExit(0), KeyboardInterrupt(), GeneratorExit(), MemoryError(),
    asyncio.CancelledError(), BaseExceptionGroup("two", [SystemExit(0)]),
]  # fmt: skip


@for_each("waits", [False, True])
@for_each("error", ERRORS, ids=lambda error: type(error).__name__)
def test_whatever_it_raises_is_its_own(error: BaseException, waits: bool) -> None:
    assert repr(run(raising(error, waits)).error) == repr(error)


async def swallow() -> object:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "late"
    return "never"


async def sleep_in_finally() -> object:
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.Event().wait()
    return "never"


async def never_listen() -> object:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


async def block() -> object:
    time.sleep(0.05)  # noqa: ASYNC251 - what it should not do
    return "late"


@for_each("code", [swallow, sleep_in_finally, never_listen, block])
def test_what_comes_after_the_limit_is_late_whatever_it_is(code: Code) -> None:
    assert run(code, limit_s=0.01).is_late


def test_those_that_were_given_up_are_ended_with_their_host() -> None:
    ended: list[str] = []

    async def code() -> object:
        try:
            return await never_listen()
        finally:
            ended.append("ended")

    assert run(code, limit_s=0.01).is_late
    assert ended == ["ended"]


async def cancel_itself() -> object:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return 3


async def cancel_itself_later() -> object:
    await asyncio.sleep(0)
    return await cancel_itself()


@pytest.mark.parametrize("code", [cancel_itself, cancel_itself_later])
def test_a_guest_that_cancels_itself_cancels_nobody_else(code: Code) -> None:
    async def several() -> list[Stay]:
        async with Guests() as guests:
            stays = [await guests.run(each(), LIMIT_S, "x") for each in (at_once, code, at_once)]
            task = asyncio.current_task()
            assert task is not None
            assert task.cancelling() == 0
            return stays

    one, cancelled, other = asyncio.run(several())
    assert isinstance(cancelled.error, asyncio.CancelledError)
    assert (one.value, other.value) == (3, 3)


def test_a_cancellation_that_was_taken_back_reaches_nobody() -> None:
    async def take_back() -> object:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        task.uncancel()
        return 3

    async def several() -> list[object]:
        async with Guests() as guests:
            codes = (take_back, later, take_back, later)
            return [(await guests.run(each(), LIMIT_S, "x")).value for each in codes]

    assert asyncio.run(several()) == [3, 3, 3, 3]


def test_a_guest_has_a_task_of_its_own_from_its_first_step_on() -> None:
    async def code() -> object:
        first = asyncio.current_task()
        assert first is not None
        name = first.get_name()
        await asyncio.sleep(0)
        return first is asyncio.current_task(), name

    async def both() -> tuple[object, bool]:
        async with Guests() as guests:
            mine = asyncio.current_task()
            stay = await guests.run(code(), LIMIT_S, "x")
            return stay.value, mine is asyncio.current_task()

    assert asyncio.run(both()) == ((True, "x"), True)


def test_time_limits_of_the_guest_itself_work() -> None:
    async def code() -> object:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            return "its own"
        return "none"

    assert run(code).value == "its own"


def test_what_a_guest_sets_is_seen_by_itself_only() -> None:
    async def code() -> object:
        before = HERE.get()
        HERE.set("a guest")
        await asyncio.sleep(0)
        return before, HERE.get()

    async def at_once() -> object:
        HERE.set("a quick guest")
        return HERE.get()

    async def several() -> list[object]:
        async with Guests() as guests:
            said = [
                (await guests.run(each(), LIMIT_S, "x")).value for each in (code, at_once, code)
            ]
            return [*said, HERE.get()]

    seen = ("nothing", "a guest")
    assert asyncio.run(several()) == [seen, "a quick guest", seen, "nothing"]


def test_a_guest_may_be_a_host_at_once() -> None:
    async def outer() -> object:
        async with Guests() as guests:
            inner = [(await guests.run(each(), LIMIT_S, "y")).value for each in (at_once, later)]
            task = asyncio.current_task()
            assert task is not None
            return [*inner, task.get_name()]

    assert run(outer).value == [3, 3, "x"]


def test_several_are_waited_for_together_each_by_its_own_limit() -> None:
    async def several() -> list[Stay]:
        async with Guests(0.02) as guests:
            calls = [
                (never_listen(), 0.01, None),
                (later(), LIMIT_S, None),
                (at_once(), LIMIT_S, None),
            ]
            return await guests.run_all(calls, "x")

    stays = asyncio.run(several())
    assert [(stay.value, stay.is_late) for stay in stays] == [
        (None, True), (3, False), (3, False)
    ]  # fmt: skip


def test_who_is_cancelled_while_he_waits_tells_his_guests() -> None:
    told: list[str] = []

    async def guest(name: str) -> object:
        try:
            return await asyncio.Event().wait()
        finally:
            told.append(name)

    async def cancel(waiting: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(waiting)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def main() -> None:
        async with Guests() as guests:
            await cancel(guests.run(guest("a"), LIMIT_S, "x"))
            await cancel(
                guests.run_all([(guest("b"), LIMIT_S, None), (guest("c"), LIMIT_S, None)], "x")
            )
            await guests.settle()
            assert told == ["a", "b", "c"]

    asyncio.run(main())


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="counts references")
def test_an_error_is_freed_when_nobody_has_a_use_for_it() -> None:
    class OddError(Exception):
        pass

    async def fail() -> object:
        await asyncio.sleep(0)
        raise OddError

    async def main() -> weakref.ref[BaseException]:
        async with Guests() as guests:
            stay = await guests.run(fail(), LIMIT_S, "x")
            assert stay.error is not None
            return weakref.ref(stay.error)

    gc.disable()
    try:
        assert asyncio.run(main())() is None
    finally:
        gc.enable()
