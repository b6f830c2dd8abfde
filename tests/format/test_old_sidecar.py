"""Suite fields beside JSONL under a name that is not read are not passed over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalcase

CASE = '{"id": "a", "input": "x", "expected_output": "ok"}\n'
FIELDS = "description: what it is about\nexecution: {target: echo}\n"


def said(folder: Path) -> list[tuple[str, str]]:
    found = evalcase.check(folder / "big.jsonl", root=folder)
    return [(Path(problem.path).name, problem.message) for problem in found]


@pytest.mark.parametrize("name", ["big.yaml", "big.yml"])
def test_it_is_named_with_its_new_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "big.jsonl").write_text(CASE)
    (tmp_path / name).write_text(FIELDS)
    (problem,) = evalcase.check(tmp_path / "big.jsonl", root=tmp_path)
    assert (problem.code, problem.severity) == ("stray-suite-fields", "warning")
    assert problem.message == "these suite fields are not read: big.jsonl has none"
    assert problem.hint == "if they are its own, name the file big.suite.yaml"
    (tmp_path / name).rename(tmp_path / "big.suite.yaml")
    assert "not read" not in str(said(tmp_path))
