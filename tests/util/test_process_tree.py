import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalcase.targets.command import CommandTarget
from evalcase.util import process_tree as tree
from tests.executors.workers import find_children
from tests.targets.bell import RING, Bell, is_there
from tests.targets.questions import LIMIT_S, question, target_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only groups are ended")

FAMILY = (
    RING
    + """
start(ring_and_hang)
start(in_a_new_session)
start(as_a_daemon)
"""
)
HANG = FAMILY + "ring_and_hang()\n"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is killed is waited for, on a machine however busy."""
    monkeypatch.setattr("evalcase.util.processes._END_S", LIMIT_S)


def command(tmp_path: Path, source: str, bell: Bell, **options: Any) -> CommandTarget:
    (tmp_path / "program.py").write_text(source)
    argv = [sys.executable, "-S", "-E", "program.py"]
    env = {"BELL": bell.port}
    return target_of(CommandTarget, command=argv, root=str(tmp_path), env=env, **options)


def test_other_children_are_left_alone(tmp_path: Path) -> None:
    async def run() -> tuple[list[int], int | None]:
        async with Bell() as bell:
            (tmp_path / "other.py").write_text(RING + "in_a_new_session()\n")
            other = subprocess.Popen(  # noqa: ASYNC220 - as user code may do
                [sys.executable, "-S", "other.py"], cwd=tmp_path,
                env={**os.environ, "BELL": bell.port},
            )  # fmt: skip
            try:
                await bell.wait_for(1)
                target = command(tmp_path, HANG, bell)
                await target.open()
                answering = [asyncio.create_task(target.answer(question())) for _ in range(2)]
                pids = await bell.wait_for(8)
                answering[0].cancel()
                await asyncio.wait(answering[:1])
                left = [pid for pid in pids if is_there(pid)]
                answering[1].cancel()
                await asyncio.wait(answering)
                await target.close()
                assert [pid for pid in pids if is_there(pid)] == []
                return left, other.poll()
            finally:
                other.kill()
                other.wait()

    left, code = asyncio.run(run())
    assert (len(left), code) == (4, None)


def test_cancelling_at_any_moment_leaves_nothing(tmp_path: Path) -> None:
    """Also before the process is up: after so many turns of the event loop, each number once."""

    async def run() -> None:
        async with Bell() as bell:
            target = command(tmp_path, RING + "ring_and_hang()\n", bell)
            await target.open()
            for turns in range(12):
                answering = asyncio.create_task(target.answer(question()))
                for _ in range(turns):
                    await asyncio.sleep(0)
                answering.cancel()
                async with asyncio.timeout(LIMIT_S):
                    await asyncio.wait([answering])
                assert answering.cancelled()
            await target.close()

    before = set(find_children(os.getpid()))  # the servers of other tests
    asyncio.run(run())
    assert set(find_children(os.getpid())) <= before


def start_alone(mark: str = "") -> subprocess.Popen[bytes]:
    """An innocent process in a session of its own."""
    process = subprocess.Popen(
        ["sleep", "600"], start_new_session=True, env={tree.TOKEN: mark} if mark else {}
    )
    # A moment after its program was started, a process has no environment that could be seen.
    environment = Path(f"/proc/{process.pid}/environ")
    while environment.exists() and mark.encode() not in environment.read_bytes():
        pass
    return process


def test_a_family_is_found_by_its_token_alone() -> None:
    token = tree.new_token()
    orphan = start_alone(token)
    try:
        assert [each.pid for each in tree.end_family(token)] == [orphan.pid]
        assert orphan.wait() == -signal.SIGKILL
    finally:
        orphan.kill()
        orphan.wait()


def test_a_guard_ends_what_is_left_when_its_owner_is_killed() -> None:
    token = tree.new_token()
    orphan = start_alone(token)
    owner = subprocess.Popen(["sleep", "600"])
    argv = [sys.executable, "-I", tree.__file__, str(owner.pid), token]
    guard = subprocess.Popen(argv)
    try:
        owner.kill()
        owner.wait()
        assert guard.wait(LIMIT_S) == 0
        assert orphan.wait(LIMIT_S) == -signal.SIGKILL
    finally:
        for each in (owner, guard, orphan):
            each.kill()
            each.wait()
