from pathlib import Path

import pytest

from tests.faults.pipes import Alive
from tests.faults.programs import program
from tests.run.project import Done, Project, case, cases
from tests.store.rows import read_results

AGENT = """
async def stuck(question: Question):
    if question.case == "stuck":
        await asyncio.Event().wait()
    return "ok"


async def stubborn(question: Question):
    while question.case == "stuck":
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("not now") from None
    return "ok"
"""

PROGRAM = """
import json, os, sys, time
for line in sys.stdin:
    case = json.loads(line)
    if case["case"] == "stuck":
        os.write(os.open("alive", os.O_WRONLY), b".")
        time.sleep(600)
    print(json.dumps({"id": case["id"], "answer": "ok"}) if WORKER else "ok", flush=True)
"""


OVER = "no answer within 0.5 s (`timeout_s` of the case, or --timeout, allows more)"


def check(project: Project, done: Done, said: str = OVER) -> None:
    """The one that hangs is errored by a time-out, never failed, and the others are answered."""
    assert (done.code, done.counts()) == (3, {"passed": 3, "errored": 1})
    results = list(read_results(str(project.runs()[0] / "journal.jsonl")))
    failures = {each.key.case: each.failure for each in results if each.failure is not None}
    assert (failures["stuck"].kind, failures["stuck"].message) == ("timeout", said)


@pytest.mark.parametrize("target", ["answer", "stuck", "stubborn"])
def test_fault_06_a_function_that_hangs_is_timed_out_and_not_failed(
    project: Project, target: str
) -> None:
    project.add_to_agent(AGENT)
    project.suite(case("stuck", "hang", timeout_s=0.5), *cases(3))
    check(project, project.run_process("run", "--json", "--target", f"python:agent:{target}"))


@pytest.mark.parametrize("mode", ["once", "worker"])
def test_fault_06_a_program_that_hangs_is_timed_out_and_ended(
    project: Project, tmp_path: Path, mode: str
) -> None:
    alive = Alive(tmp_path)
    code = PROGRAM.replace("WORKER", str(mode == "worker"))
    name = program(project, code, mode=mode)
    project.suite(case("stuck", timeout_s=0.5), *cases(3))
    check(project, project.run("run", "--json", "--target", name))
    alive.await_none()


def test_fault_06_tear_down_that_hangs_does_not_hold_up_the_end(project: Project) -> None:
    project.add_to_agent(
        """
import evalcase.runner.calls
evalcase.runner.calls.CLOSE_S = 0.2

class Slow:
    def answer(self, question):
        return "ok"

    def close(self):
        threading.Event().wait()
"""
    )
    project.suite(case("one"))
    done = project.run_process("run", "--target", "python:agent:Slow")
    assert done.code == 0
    assert "tear-down took more than 0.2 s and was given up" in done.err
