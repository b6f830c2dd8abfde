"""Files that graders name are looked for, and looked into, by `check`."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalcase
from evalcase.config.catalogue import Catalogue

pytestmark = pytest.mark.usefixtures("in_folder")


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


GRADER = '{"type": "json_schema", "file": "schemas/%s.json"}'


def test_a_file_that_a_grader_names_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text("")
    (tmp_path / "schemas").mkdir()
    (tmp_path / "evals").mkdir()
    (tmp_path / "schemas" / "a.json").write_text('{\n  "type": "objekt",\n  "requird": ["x"]\n}')
    (tmp_path / "schemas" / "b.json").write_text('{\n  "type": ,\n}')
    (tmp_path / "schemas" / "c.json").write_text("[1]")
    (tmp_path / "schemas" / "d.json").write_text('{"type": "object"}')
    suite = "cases:\n" + "".join(
        f"- {{input: {name}, graders: [{{type: json_schema, file: schemas/{name}.json}}]}}\n"
        for name in "aabcd"
    )
    (tmp_path / "evals" / "s.eval.yaml").write_text(suite)
    found = evalcase.check(tmp_path)
    places = [
        (Path(each.path).name, each.code, each.span and each.span[:2], each.severity)
        for each in found
    ]
    assert places == [
        ("a.json", "bad-value", (2, 11), "error"),
        ("a.json", "unknown-option", (3, 3), "error"),
        ("b.json", "syntax", (2, 11), "error"),
        ("c.json", "wrong-type", (1, 1), "error"),
    ]
    lines = "".join(f'{{"input": "{name}", "graders": [{GRADER % name}]}}\n' for name in "aad")
    (tmp_path / "evals" / "s.eval.yaml").unlink()
    (tmp_path / "evals" / "s.eval.jsonl").write_text(lines)
    assert [Path(each.path).name for each in evalcase.check(tmp_path)] == ["a.json", "a.json"]
    assert [case is None for case in _cases(tmp_path / "evals" / "s.eval.jsonl")] == [
        True, True, False
    ]  # fmt: skip


def _cases(path: Path) -> list[object]:
    from evalcase.format.load import CaseStream
    from evalcase.types.problem import Problem

    return [each for each in CaseStream(str(path), Catalogue()) if not isinstance(each, Problem)]


def test_the_file_of_a_function_has_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text("")
    (tmp_path / "there.py").write_text("raise SystemExit\nf = g = None\n")
    (tmp_path / "a.eval.yaml").write_text(
        "input: x\ngraders:\n- python: ./there.py:f\n- python: ./gone.py:f\n- python:./gone.py:g\n"
    )
    found = evalcase.check(tmp_path)
    assert [(each.code, each.span and each.span.line, each.hint) for each in found] == [
        ("missing-file", 4, "paths are relative to the project's folder"),
        ("missing-file", 5, "paths are relative to the project's folder"),
    ]
