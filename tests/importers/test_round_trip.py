"""What `evalcase show` prints can be imported as rows, and gives the same cases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import evalcase
from tests.cli.in_process import run_in_process
from tests.for_each import for_each

CORPUS = Path(__file__).parent.parent / "corpus"
SUITES = [
    path
    for path in sorted((CORPUS / "valid").iterdir())
    if path.suffix in (".yaml", ".json", ".jsonl") and not path.name.endswith(".suite.yaml")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the corpus, so that what is written finds the files that its cases name."""
    path = tmp_path_factory.mktemp("round-trip")
    shutil.copytree(CORPUS, path, dirs_exist_ok=True)
    return path / "valid"


@for_each("path", SUITES, ids=lambda path: path.name)
def test_cases_stay_what_they_are(path: Path, folder: Path) -> None:
    shown, again = folder / f"{path.name}.shown.jsonl", folder / f"{path.name}.again.eval.yaml"
    printed = run_in_process(["show", path.name, "--format", "jsonl"], cwd=folder, env={})
    assert printed.code == 0, printed.stderr
    shown.write_bytes(printed.stdout)
    command = ["import", shown.name, "--from", "rows", "-o", again.name]
    ended = run_in_process(command, cwd=folder, env={})
    assert (ended.code, ended.stderr) == (0, b"")
    before, after = evalcase.load(shown), evalcase.load(again)
    # Of what looks like a tag, an import says that it is meant as it stands.
    assert [take_from(case) for case in after] == [take_from(case) for case in before]


def take_from(case: evalcase.Case) -> dict[str, object]:
    fields = case.to_dict()
    return fields if "vars" in fields else {**fields, "rendered": None}
