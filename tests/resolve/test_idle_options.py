from __future__ import annotations

from pathlib import Path

import pytest

from evalcase.plugins.known import Existing
from evalcase.suites.load import load_file


@pytest.mark.parametrize(
    "grader",
    [
        "{regex: 'x*'}", "{regex: 'a|'}", "{type: regex, value: ^, not: true}",
        "{regex: {value: 'x*'}}", "{fields: {a: {regex: 'x*'}}}", "{any: [{regex: 'x*'}]}",
    ],
)  # fmt: skip
def test_a_pattern_that_every_answer_has_is_warned_of_where_it_stands(
    tmp_path: Path, grader: str
) -> None:
    text = f"- {{id: a, input: x, graders: [{grader}]}}"
    path = tmp_path / "s.eval.yaml"
    path.write_text(text)
    (problem,) = load_file(str(path), known=Existing()).problems
    assert (problem.code, problem.severity) == ("nothing-to-grade", "warning")
    assert "is found in every answer" in problem.message
    assert problem.span is not None
    pattern = next(each for each in ("'x*'", "'a|'", "^") if each in text)
    assert problem.span.column == text.index(pattern) + 1


@pytest.mark.parametrize("grader", ["{regex: 'x+'}", "{type: regex, value: 'x*', full: true}"])
def test_others_are_not(tmp_path: Path, grader: str) -> None:
    path = tmp_path / "s.eval.yaml"
    path.write_text(f"- {{id: a, input: x, graders: [{grader}]}}")
    assert not load_file(str(path), known=Existing()).problems
