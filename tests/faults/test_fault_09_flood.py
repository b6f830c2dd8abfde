import os
import sys
from typing import Any

import pytest

from tests.faults.programs import program
from tests.run.project import Project, case

MIB = 1024 * 1024
FLOOD = 'import os\nfor _ in range(100):\n    os.write({fd}, b"0123456789abcdef" * 65536)\n'

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in kibibytes")


def run(project: Project, *arguments: str) -> tuple[int, int]:
    """The exit code of a run, and the most memory that it had, in bytes."""
    process = project.start("run", "--quiet", *arguments, fresh=True)
    assert process.stdout is not None
    assert process.stderr is not None
    said = process.stdout.read() + process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    process.stderr.close()
    assert b"Traceback" not in said
    return process.returncode, used.ru_maxrss * 1024


def row(project: Project) -> dict[str, Any]:
    return project.rows()[0]


@pytest.fixture
def usual(project: Project) -> int:
    """The memory of a run of one small answer."""
    project.suite(case("one"))
    return run(project, "--target", program(project, "print('ok')", name="small"))[1]


@pytest.mark.parametrize("mode", ["once", "worker"])
def test_fault_09_100_megabytes_of_output_take_no_more_memory_than_is_kept(
    project: Project, usual: int, mode: str
) -> None:
    name = program(project, FLOOD.format(fd=1), mode=mode, max_output_bytes=MIB)
    code, used = run(project, "--target", name)
    assert used - usual < 20 * MIB
    if mode == "once":
        answer = row(project)["answer"]
        assert (code, row(project)["verdict"], answer["truncated"]) == (3, "errored", True)
        assert len(answer["messages"][0]["content"]) == MIB
    else:
        assert (code, row(project)["failure"]["kind"]) == (3, "protocol")


def test_fault_09_nothing_grades_what_an_answer_that_was_cut_says(project: Project) -> None:
    project.add_to_agent("def short(answer):\n    return True\n")
    (project.path / "grade.py").write_text("print('{\"score\": 1}')")
    name = program(project, "print('ok' * 1000)", max_output_bytes=2)
    graders: dict[str, Any] = {
        "code": "python:agent:short",
        "script": {"script": ["python3", "grade.py"]},
        "turned": {"type": "expected", "not": True},
        "calls": {"tool_calls": {"max": 0}},
        "ended": {"type": "finish", "value": "stop", "not": True},
        "turns": {"turns": {"max": 1}},
    }
    project.suite(*[
        {"id": id, "input": "x", "graders": [grader]}
        | ({"expected_output": "ok"} if id == "turned" else {})
        for id, grader in graders.items()
    ])  # fmt: skip
    assert project.run("run", "--target", name).code == 3
    found = project.verdicts()
    assert found.pop("turns") == "passed"
    assert set(found.values()) == {"errored"}, found


def test_fault_09_a_function_that_returns_too_much_is_cut_and_marked(project: Project) -> None:
    project.add_to_agent("def big(question):\n    return 'é' * 20_000_000\n")
    project.suite(case("one"))
    run(project, "--target", "python:agent:big")
    answer = row(project)["answer"]
    assert answer["truncated"] is True
    assert answer["messages"][0]["content"].endswith("more bytes were cut]")
    assert (project.runs()[-1] / "journal.jsonl").stat().st_size < 11_000_000


def test_fault_09_what_can_not_be_cut_is_an_error_of_its_trial(project: Project) -> None:
    """Data that is cut would be other data."""
    project.add_to_agent(
        "def big(q: Question):\n"
        "    return {'a': ['x' * 1_000_000] * 70} if q.case == 'big' else 'ok'\n"
    )
    project.suite(case("big"), case("good"))
    assert run(project, "--target", "python:agent:big")[0] == 3
    assert project.verdicts() == {"big": "errored", "good": "passed"}
