import os
from pathlib import Path
from typing import Any

import pytest

from tests.run.project import Project

ODD = {
    "above the project": "../../../../../../../../../etc/passwd",
    "an absolute path": "/etc/passwd",
    "a link that leads out": "link",
    "a link to nowhere": "nowhere",
    "a file that is not there": "gone.png",
    "a pipe": "pipe",
    "a device": "/dev/zero",
    "a link to a device": "zero",
    "a folder": "folder",
    "a name with a NUL": "a\x00b",
}

# Once it has answered for the first case, the file of the second is no longer what it was.
TURNING = """
def turning(files):
    note("calls", str(len(files)))
    for file in HERE.glob("*.png"):
        file.unlink()
        {turn}
    return "ok"
"""


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "nowhere").symlink_to("not-there")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def asking(id: str, content: Any) -> dict[str, Any]:
    return {"id": id, "input": [{"role": "user", "content": content}], "expected_output": "ok"}


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize(("kind", "key"), [("file", "path"), ("image", "path"), ("image", "value")])
def test_fault_13_a_file_outside_the_project_or_no_file_is_never_opened_and_nothing_runs(
    project: Project, kind: str, key: str
) -> None:
    parts = [{"type": kind, key: name} for name in ODD.values()]
    project.suite(asking("a", parts))
    for command in (["check"], ["run"], ["run", "--target", "echo", "--timeout", "2"]):
        done = project.run(*command)
        assert (done.code, project.calls(), project.runs()) == (2, [], [])
        said = done.out + done.err
        assert said.count("s.eval.yaml:1:") == said.count("error[") == len(ODD), "each is placed"
        assert "root:" not in said


TURNS = {
    "a pipe": ("os.mkfifo(file)", "`b.png` is not a regular file"),
    "a device": ("file.symlink_to('/dev/zero')", "`b.png` is outside the project"),
    "a link that leads out": ("file.symlink_to('/etc/passwd')", "`b.png` is outside the project"),
    "gone": ("pass", "there is no file `b.png`"),
}


@pytest.mark.parametrize("kind", ["file", "image"])
@pytest.mark.parametrize(("turn", "said"), TURNS.values(), ids=TURNS)
def test_fault_13_a_file_that_changes_while_a_run_goes_on_costs_its_own_trials_only(
    project: Project, tmp_path: Path, kind: str, turn: str, said: str
) -> None:
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    project.add_to_agent(TURNING.format(turn=turn))
    project.suite(
        asking("a", "Hi"), asking("b", [{"type": kind, "path": "b.png"}]), asking("c", "Hi")
    )
    done = project.run("run", "--target", "python:agent:turning", "--concurrency", "1")
    assert done.code == 3
    assert project.verdicts() == {"a": "passed", "b": "errored", "c": "passed"}
    (failure,) = [row["failure"] for row in project.rows() if row["case"] == "b"]
    assert said in failure["message"]
    assert project.calls() == ["0", "0"], "nobody was asked about it"
