import sys
from pathlib import Path

import pytest

from tests.faults.pipes import Alive
from tests.faults.programs import program
from tests.run.project import Project, await_notice, case, finish, interrupt

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only groups are ended")

START = """
import os, signal, sys, time

def live():
    alive = os.open("alive", os.O_WRONLY)
    os.write(alive, b".")
    time.sleep(600)

def start(*steps):
    if os.fork() == 0:
        for step in steps:
            step()
        os._exit(0)
"""

DESCENDANTS = {
    "a grandchild": "start(lambda: start(live))",
    "a grandchild with its own session": "start(lambda: start(os.setsid, live))",
    "a daemon": "start(os.setsid, lambda: start(live))",
    "a child that ignores signals": (
        "start(lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN), live)"
    ),
    "a child with a clean environment, of a parent that lives": (
        "start(os.setsid, lambda: os.execve('/bin/sh', "
        "['sh', '-c', 'exec 9>alive; echo -n . >&9; sleep 600'], {}))"
    ),
}


@pytest.mark.parametrize("mode", ["once", "worker"])
def test_fault_12_a_grandchild_with_its_own_session_a_daemon_and_others_end_with_a_hung_program(
    project: Project, tmp_path: Path, mode: str
) -> None:
    alive = Alive(tmp_path)
    name = program(project, "\n".join([START, *DESCENDANTS.values(), "live()"]), mode=mode)
    project.suite(case("one"))
    process = project.start("run", "--target", name)
    alive.await_number(len(DESCENDANTS) + 1)
    interrupt(process)
    await_notice(process, "Ctrl-C")
    interrupt(process)
    assert finish(process).code == 130
    alive.await_none()


def test_fault_12_what_a_program_leaves_behind_is_ended_and_its_answer_kept(
    project: Project, tmp_path: Path
) -> None:
    alive = Alive(tmp_path)
    # It answers when the daemon is up, which has let go of the pipe of its answer.
    daemon = """
hear, say = os.pipe()
up = lambda: os.write(say, b".")
start(os.setsid, lambda: start(lambda: os.close(1), lambda: os.close(2), up, live))
os.read(hear, 1)
print("ok")
"""
    name = program(project, START + daemon)
    project.suite(case("one"))
    assert project.run_process("run", "--json", "--target", name).counts() == {"passed": 1}
    alive.await_none()


def test_fault_12_a_hidden_child_that_holds_the_pipes_keeps_no_trial_waiting(
    project: Project,
) -> None:
    hidden = """
hear, say = os.pipe()  # it is closed once the child has its clean environment
start(lambda: start(lambda: os.execve("/bin/sleep", ["sleep", "4"], {})))
os.close(say)
os.read(hear, 1)
print("ok")
"""
    name = program(project, START + hidden)
    project.suite(case("one"))
    assert project.run_process("run", "--json", "--target", name).counts() == {"errored": 1}
    assert "stays open after the command has ended" in str(project.rows())


BOMB = """
import os, resource, time
# The bound is the test's own; where it does not hold, as for root, the depth does.
resource.setrlimit(resource.RLIMIT_NPROC, (400, 400))
alive = os.open("alive", os.O_WRONLY)
os.write(alive, b".")
for _ in range(7):
    try:
        os.fork()
    except OSError:
        break
    os.setsid() if os.getpid() % 3 == 0 and os.getpid() != os.getpgrp() else None
time.sleep(600)
"""


def test_fault_12_a_fork_bomb_is_ended_whole(project: Project, tmp_path: Path) -> None:
    alive = Alive(tmp_path)
    name = program(project, BOMB)
    project.suite(case("bomb", timeout_s=1.0))
    assert project.run_process("run", "--json", "--target", name).counts() == {"errored": 1}
    alive.await_none()


def test_fault_12_programs_do_not_inherit_what_evalcase_has_open(project: Project) -> None:
    """Neither the journal, whose lock they would hold on to, nor the pipe of the guard."""
    name = program(project, "import os\nprint(len(os.listdir('/proc/self/fd')))")
    project.suite({"id": "one", "input": "x", "expected_output": "4"})
    done = project.run_process("run", "--json", "--target", name)
    assert done.counts() == {"passed": 1}
