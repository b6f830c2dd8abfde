from __future__ import annotations

import os
from pathlib import Path

from tests.run.project import Project

ODD = {
    "above the project": "../../../../../../../../../etc/passwd",
    "an absolute path": "/etc/passwd",
    "a link that leads out": "link",
    "a link to nowhere": "nowhere",
    "a pipe": "pipe",
    "a device": "/dev/zero",
    "a folder": "folder",
    "a name with a NUL": "a\x00b",
}


def test_fault_13_a_file_outside_the_project_or_no_file_is_never_opened_and_nothing_runs(
    project: Project, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "nowhere").symlink_to("not-there")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    parts = [{"type": "file", "path": name} for name in ODD.values()]
    message = {"role": "user", "content": parts}
    project.suite({"id": "a", "input": [message], "expected_output": "x"})
    for command in ("check", "run"):
        done = project.run(command)
        assert (done.code, project.calls()) == (2, [])
        said = done.out + done.err
        assert said.count("s.eval.yaml:1:") == said.count("error[") == len(ODD), "each is placed"
        assert "root:" not in said
