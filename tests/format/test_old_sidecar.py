"""Suite fields beside JSONL under a name that is not read are not passed over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalcase
from tests.for_each import for_each

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
    assert problem.message == "no JSONL file has these suite fields, and big.jsonl has none"
    assert problem.hint == "if they are its own, name the file big.suite.yaml"
    (tmp_path / name).rename(tmp_path / "big.suite.yaml")
    assert "no JSONL file" not in str(said(tmp_path))


@for_each("name", ["bgi.suite.yaml", "Big.suite.yml", "big.suite.json"])
def test_suite_fields_of_no_file_are_told_where_a_file_has_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "big.eval.jsonl").write_text(CASE)
    (tmp_path / name).write_text('{"threshold": 0.5, "graders": [{"equals": "x"}]}')
    (problem,) = evalcase.check(tmp_path, root=tmp_path)
    assert (problem.code, Path(problem.path).name) == ("stray-suite-fields", name)
    assert problem.hint == "if they are its own, name the file big.suite.yaml"
    (tmp_path / name).rename(tmp_path / "big.suite.yaml")
    assert evalcase.check(tmp_path, root=tmp_path) == []
