"""User code that does what it should not, and what its caller sees of that."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from pathlib import Path

import pytest

from evalcase.util.user_calls import (
    CallOutcome,
    QueueTime,
    UserCalls,
    close_all,
    run_in_thread,
    waiting_in_queue,
)
from tests.for_each import for_each
from tests.run.project import Project, case

Code = Callable[[], object]
LIMIT_S = 20.0
HERE: ContextVar[str] = ContextVar("HERE", default="nothing")


def run(code: Code, limit_s: float = LIMIT_S, grace_s: float = 0.02) -> CallOutcome:
    async def main() -> CallOutcome:
        async with UserCalls(grace_s) as calls:
            return await calls.run(code, limit_s, "x")

    loop = asyncio.new_event_loop()  # `asyncio.run` would wait for what never ends
    try:
        return loop.run_until_complete(main())
    finally:
        loop.close()


async def at_once() -> object:
    return 3


async def later() -> object:
    await asyncio.sleep(0)
    return 3


async def in_thread() -> object:
    return await run_in_thread(lambda: 3)


@for_each("code", [at_once, later, in_thread, lambda: 3])
def test_what_it_returns(code: Code) -> None:
    outcome = run(code)
    assert (outcome.value, outcome.error, outcome.is_late) == (3, None, False)


def test_time_in_a_queue_does_not_count() -> None:
    queue = QueueTime()

    async def code() -> object:
        with queue.counting(), waiting_in_queue():
            await asyncio.sleep(0.1)
        return 3

    async def main() -> CallOutcome:
        async with UserCalls() as calls:
            return await calls.run(code, 0.05, "x", queue=queue)

    outcome = asyncio.run(main())
    assert (outcome.value, outcome.is_late) == (3, False)


def test_a_call_is_cancelled_with_its_caller() -> None:
    ended: list[str] = []

    async def code() -> object:
        try:
            return await asyncio.Event().wait()
        finally:
            ended.append("ended")

    async def main() -> None:
        async with UserCalls() as calls:
            task = asyncio.create_task(calls.run(code, LIMIT_S, "x"))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await calls.settle()
            assert ended == ["ended"]

    asyncio.run(main())


def test_each_is_closed_in_order_whatever_another_raises() -> None:
    closed: list[str] = []

    async def close(name: str) -> None:
        closed.append(name)
        if name != "second":
            raise OSError(name)

    async def hang() -> None:
        await asyncio.Event().wait()

    with pytest.raises(OSError, match="third"):
        asyncio.run(close_all(partial(close, name) for name in ("first", "second", "third")))
    assert closed == ["first", "second", "third"]

    async def give_up() -> None:
        async with asyncio.timeout(0.01):
            await close_all([hang, partial(close, "second")])

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert closed[3:] == ["second"]


# gevent replaces threads and locks


MONKEY = """
saved = {}

def patch_all(thread=True):
    saved["select"] = {}
    if thread:
        saved["threading"] = {}

def is_module_patched(name):
    return name in saved
"""
AGENT = """
from gevent import monkey
monkey.patch_all(thread=%r)

def answer(text):
    return "ok"

def fine(text):
    return True
"""


@pytest.fixture
def patching(tmp_path: Path) -> Project:
    """A project with a stand-in for gevent, and an agent that patches threads."""
    project = Project(tmp_path)
    (tmp_path / "gevent").mkdir()
    (tmp_path / "gevent" / "__init__.py").touch()
    (tmp_path / "gevent" / "monkey.py").write_text(MONKEY)
    (tmp_path / "patched.py").write_text(AGENT % True)
    (tmp_path / "unpatched.py").write_text(AGENT % False)
    project.suite(case("a"))
    return project


@pytest.mark.parametrize("where", [[], ["--processes", "1"]])
def test_a_target_that_patches_threads_is_refused(patching: Project, where: list[str]) -> None:
    done = patching.run_process("run", "--target", "python:patched:answer", *where)
    assert (done.code, patching.runs()) == (2, [])
    assert "it patches threads with gevent" in " ".join(done.err.split())
    done = patching.run_process("run", "--target", "python:unpatched:answer", *where)
    assert done.code == 0


def test_a_grader_that_patches_threads_is_refused(patching: Project) -> None:
    patching.suite({"id": "a", "input": "x", "graders": ["python:patched:fine"]})
    done = patching.run_process("run", "--target", "echo")
    assert (done.code, "it patches threads with gevent" in done.err) == (2, True)


def test_a_program_that_patches_threads_first_may_evaluate(patching: Project) -> None:
    code = "import patched, evalcase; print(evalcase.evaluate('.', 'python:patched:answer').ok)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=patching.path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


def test_anyio_and_processes_of_an_agent_work(patching: Project) -> None:
    patching.add_to_agent("""
import anyio, multiprocessing, sys

async def in_anyio(text):
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0)
    return await anyio.to_thread.run_sync(lambda: "ok")

def in_process(text):
    worker = multiprocessing.get_context("fork").Process(target=sys.exit, args=(5,))
    worker.start()
    worker.join()
    return "ok" if worker.exitcode == 5 else "no"
""")
    for name in ("in_anyio", "in_process"):
        assert patching.run_process("run", "--target", f"python:agent:{name}").code == 0
