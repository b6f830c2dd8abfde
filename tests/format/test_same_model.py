"""A judge that is the model it judges is told wherever a suite names either of them."""

from pathlib import Path

import pytest

import evalcase

pytestmark = pytest.mark.usefixtures("in_folder")


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


SAME = """
target = "other"
[targets.bot]
kind = "openai"
model = "m"
[targets.twin]
kind = "openai"
model = "m"
[targets.other]
kind = "echo"
[judge]
target = "twin"
"""


@pytest.mark.parametrize(
    "suite",
    [
        "- {input: x, criteria: Good., targets: [other, bot]}",
        "- {input: x, target: twin, graders: [{judge: Is good.}]}",
        "- {input: x, target: bot, graders: [all: [{judge: Is good.}]]}",
        "- {input: x, graders: [{judge: {value: Is good., target: other}}]}",
    ],
)
def test_a_judge_of_its_own_answers_is_told_at_the_case(tmp_path: Path, suite: str) -> None:
    (tmp_path / "evalcase.toml").write_text(SAME)
    (tmp_path / "a.eval.yaml").write_text(suite + "\n")
    (problem,) = evalcase.check(tmp_path)
    assert (problem.code, problem.severity) == ("same-model", "warning")
    assert (problem.line, problem.column) == (1, 3)


def test_a_judge_of_other_answers_is_fine_and_one_pair_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text(SAME)
    (tmp_path / "a.eval.yaml").write_text(
        "target: bot\ngraders: [{judge: {value: Is good., target: other}}]\n"
        "cases: [{input: x}, {input: y, skip: true, criteria: z}, {input: z, target: twin}]\n"
    )
    assert evalcase.check(tmp_path) == []
    (tmp_path / "a.eval.yaml").write_text(
        "target: bot\ncases: [{input: x, criteria: a}, {input: y, criteria: b}]\n"
    )
    assert len(evalcase.check(tmp_path)) == 1
