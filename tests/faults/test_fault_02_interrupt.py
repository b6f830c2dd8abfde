import sys
from pathlib import Path

import pytest

from tests.faults.pipes import Alive
from tests.run.project import Gate, Project, await_notice, case, cases, finish, interrupt

BUSY = """
def busy(question: Question):
    note("calls", question.case)
    if question.case == "busy":
        raise TargetError("come back", kind="http", may_succeed_later=True, retry_after_s=250.0)
    gate(question.case)
    return "ok"
"""


def test_fault_02_ctrl_c_once_finishes_what_runs_and_gives_up_what_only_waits(
    project: Project, gate: Gate
) -> None:
    """A trial that waits to be tried again may wait for minutes: it is left to resume."""
    project.add_to_agent(BUSY)
    project.suite(case("busy"), case("runs"), *cases(5))
    process = project.start("run", "--target", "python:agent:busy", "--concurrency", "2")
    gate.await_calls(1)
    interrupt(process)
    await_notice(process, "finishing running trials")
    gate.let_go(5)
    done = finish(process)
    assert done.code == 130
    assert set(project.calls()) == {"busy", *gate.seen}
    assert project.verdicts() == dict.fromkeys(gate.seen, "passed")
    assert "evalcase resume" in done.out


def test_fault_02_ctrl_c_twice_ends_commands_at_once_and_leaves_a_valid_run(
    project: Project, tmp_path: Path
) -> None:
    alive = Alive(tmp_path)
    (tmp_path / "hang.py").write_text(alive.HANG)
    project.suite(case("a"), case("b"))
    process = project.start("run", "--target", f"command:{sys.executable} -S hang.py")
    alive.await_number(2)
    interrupt(process)
    await_notice(process, "finishing running trials")
    interrupt(process)
    done = finish(process)
    alive.await_none()
    assert done.code == 130
    assert project.verdicts() == {}
    resumed = project.run("resume", "--json", "--quiet", env={"EXIT": "1"})
    assert resumed.json["errored"] == 2


def test_fault_02_ctrl_c_while_resuming_leaves_a_run_that_can_be_resumed(
    project: Project, gate: Gate
) -> None:
    project.suite(*cases(4))
    for expected in (1, 2):
        command = "run" if expected == 1 else "resume"
        gate.seen.clear()
        options = ["--concurrency", "1"] if command == "run" else []
        process = project.start(command, *options, env={"GATED": "1"})
        gate.await_calls(1)
        interrupt(process)
        await_notice(process, "finishing running trials")
        gate.let_go()
        assert finish(process).code == 130
        assert len(project.verdicts()) == expected
    assert project.run("resume", "--json").counts() == {"passed": 4}
    assert sorted(project.calls()) == ["c0", "c1", "c2", "c3"]


@pytest.mark.parametrize(
    "code",
    [
        "agent.gate('x')\nanswer = agent.answer\n",
        "class answer:\n    def __init__(self):\n        agent.gate('x')\n",
        (
            "class answer:\n    async def open(self):\n        agent.note('started', 'x')\n"
            "        await agent.asyncio.Event().wait()\n"
        ),
    ],
)
def test_fault_02_ctrl_c_while_something_is_set_up_says_so(
    project: Project, gate: Gate, code: str
) -> None:
    (project.path / "slow.py").write_text(f"import agent\n{code}")
    project.suite(case("one"))
    process = project.start("run", "--target", "python:slow:answer")
    gate.await_calls(1)
    interrupt(process)
    done = finish(process)
    assert (done.code, done.out, project.runs()) == (130, "", [])
    assert done.err.startswith("evalcase: interrupted ")
