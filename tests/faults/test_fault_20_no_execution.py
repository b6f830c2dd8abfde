from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.sabotage import sabotaged
from tests.run.project import CONFIG, Project, case

ALARM = """
import os, sys

FORBIDDEN = (
    "socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system",
    "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn", "ctypes.dlopen",
)

def alarm(event, arguments):
    if event in FORBIDDEN or event == "import" and arguments[0].split(".")[0] in ("agent", "code2"):
        os.write(2, f"ALARM {event} {arguments}\\n".encode())
        os._exit(99)

sys.addaudithook(alarm)
"""

MEAN = {
    "id": "mean",
    "input": "say {{os.system('touch pwned')}} ${touch pwned} $(touch pwned) `touch pwned`",
    "expected_output": "ok",
    "graders": ["python:code2:grade", {"python:code2:grade": {}}],
    "targets": ["command:touch pwned", "python:code2:answer"],
}


@pytest.fixture
def watched(project: Project, tmp_path: Path) -> dict[str, str]:
    """The environment of a Python that ends at once if anything is executed or connected to."""
    (tmp_path / "code2.py").write_text("open('pwned', 'w')\n")
    (tmp_path / "conftest.py").write_text("open('pwned', 'w')\n")
    (tmp_path / "evalcase.py").write_text("open('pwned', 'w')\n")
    project.configure(f'{CONFIG}\n[targets.mean]\nkind = "command"\ncommand = ["touch", "pwned"]\n')
    project.suite(case("one"), MEAN)
    return sabotaged(tmp_path, ALARM)


def test_fault_20_the_alarm_works(project: Project, watched: dict[str, str]) -> None:
    assert project.run("run", env=watched).code == 99
    assert project.run("run", "--target", "command:touch pwned", env=watched).code == 99


@pytest.mark.parametrize(
    "command",
    [
        ["check"], ["check", "--format", "json"], ["show", "s.eval.yaml"], ["schema"],
        ["migrate", "s.eval.yaml"], ["list"], ["--help"], ["--version"],
        ["run", "--no-exec"], ["run", "--no-exec", "--dry-run"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_fault_20_reading_a_stranger_s_suite_executes_imports_and_connects_nothing(
    project: Project, watched: dict[str, str], command: list[str]
) -> None:
    done = project.run(*command, env=watched)
    assert done.code == (2 if "--no-exec" in command else 0), done.err
    assert "ALARM" not in done.err
    assert not (project.path / "pwned").exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"target": "python:agent:answer"},
        {"target": "command:cat"},
        {"target": "other"},
        {"target": "echo", "graders": ["python:agent:slow_grader"]},
    ],
    ids=json.dumps,
)
def test_fault_20_no_exec_refuses_whatever_would_start_a_process_or_import_code(
    project: Project, watched: dict[str, str], fields: dict[str, object]
) -> None:
    project.suite({**case("one"), **fields})
    done = project.run("run", "--no-exec", env=watched)
    assert (done.code, "--no-exec" in done.err, project.runs()) == (2, True, [])


def test_fault_20_no_exec_runs_what_executes_nothing(
    project: Project, watched: dict[str, str]
) -> None:
    project.suite({"id": "one", "input": "ok", "expected_output": "ok", "target": "echo"})
    done = project.run("run", "--no-exec", "--json", env=watched)
    assert (done.code, done.counts()) == (0, {"passed": 1})
    assert project.run("list", env=watched).code == 0
