from __future__ import annotations

from pathlib import Path

import pytest

from evalcase.targets.asking.fingerprint import program_files


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("agent.py", {"agent.py"}),
        ("python agent.py;true", {"agent.py"}),
        ("python ../tools/run.py --conf=conf.txt", {"../tools/run.py", "conf.txt"}),
        ("python -m agent", {"agent.py"}),
        ("cat 'conf.txt' | ./agent.py", {"conf.txt", "./agent.py"}),
        ("cat ../../outside.txt", set()),
        ("echo nothing", set()),
    ],
)
def test_the_files_of_the_project_that_a_command_line_names(
    tmp_path: Path, text: str, found: set[str]
) -> None:
    root, folder = tmp_path / "project", tmp_path / "project" / "evals"
    for path in (folder / "agent.py", folder / "conf.txt", root / "tools" / "run.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "outside.txt").write_text("x")
    files = program_files([text], str(folder), str(root))
    assert set(files) == found
    before = dict(files)
    for path in (folder / "agent.py", folder / "conf.txt", root / "tools" / "run.py"):
        path.write_text("y")
    after = program_files([text], str(folder), str(root))
    assert all(after[name] != before[name] for name in found)
