"""What a search passes over, and looks like a suite, is noted."""

from __future__ import annotations

import os
from pathlib import Path

import evalcase

SUITE = "cases:\n  - input: hi\n    expected_output: x\n"


def noted(folder: Path) -> list[str]:
    problems = evalcase.check([folder], root=folder)
    assert {each.code for each in problems} <= {"not-searched"}
    return [os.path.relpath(each.path, folder) for each in problems]


def test_a_suite_by_another_name_beside_eval_files_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(SUITE)
    (tmp_path / "hours.yaml").write_text("# opening\nname: x\n" + SUITE)
    (tmp_path / "flow.yml").write_text("cases: [\n{id: a, input: hi, expected_output: x}]\n")
    assert noted(tmp_path) == ["flow.yml", "hours.yaml"]
