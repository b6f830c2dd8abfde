"""What `evalcase show` prints can be imported as rows, and gives the same cases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import evalcase
from tests.cli.in_process import run_in_process

CORPUS = Path(__file__).parent.parent / "corpus"
SUITES = [
    path
    for path in sorted((CORPUS / "valid").iterdir())
    if path.suffix in (".yaml", ".json", ".jsonl") and not path.name.endswith(".suite.yaml")
]


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.name)
def test_cases_stay_what_they_are(path: Path, tmp_path: Path) -> None:
    shutil.copytree(CORPUS, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "valid"
    shown = run_in_process(["show", path.name, "--format", "jsonl"], cwd=folder, env={})
    assert shown.code == 0, shown.stderr
    (folder / "shown.jsonl").write_bytes(shown.stdout)
    command = ["import", "shown.jsonl", "--from", "rows", "-o", "again.eval.yaml"]
    ended = run_in_process(command, cwd=folder, env={})
    assert (ended.code, ended.stderr) == (0, b"")
    before, after = evalcase.load(folder / "shown.jsonl"), evalcase.load(folder / "again.eval.yaml")
    assert [case.to_dict() for case in after] == [case.to_dict() for case in before]
