"""What verdicts rest on beside the cases: after an edit of it, `resume` grades again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from evalcase.graders.base import NamedGrader
from evalcase.runner.graders import Graders
from evalcase.types.case import canonical_case
from tests.run.project import CONFIG, Project, case

JUDGE = """
import json, sys

def judge(messages):
    import helper
    lines = [line.partition(": ") for line in messages[-1]["content"].split("\\n")]
    keys = [key for key, _, text in lines if text == "Is kind."]
    return json.dumps({key: {"verdict": helper.SAID, "reason": "So."} for key in keys})

if __name__ == "__main__":
    print(judge([{"content": json.load(sys.stdin)["input"][-1]["content"]}]))
"""
CHECK = "import helper, json\nprint(json.dumps({'score': float(helper.SAID == 'met')}))\n"
PYTHON = 'kind = "python"\nfunction = "judging:judge"\n'
COMMAND = 'kind = "command"\ncommand = ["python3", "judging.py"]\noutput = "text"\n'
KIND = {"type": "judge", "value": "Is kind."}


def configure(project: Project, judge: str) -> None:
    project.configure(f'{CONFIG}[targets.j]\n{judge}[judge]\ntarget = "j"\n')


@pytest.fixture
def graded(project: Project) -> Project:
    (project.path / "judging.py").write_text(JUDGE)
    (project.path / "check.py").write_text(CHECK)
    (project.path / "helper.py").write_text("SAID = 'met'\n")
    configure(project, PYTHON)
    return project


@pytest.mark.parametrize("judge", [PYTHON, COMMAND])
@pytest.mark.parametrize(
    "fields",
    [
        {"criteria": "Is kind."}, {"graders": [KIND]}, {"graders": [{"all": [{"any": [KIND]}]}]},
        {"graders": [{"type": "judge", "value": "Is kind.", "panel": ["j"]}]},
        {"graders": [{"script": ["python3", "check.py"]}]},
    ],
)  # fmt: skip
def test_an_edit_of_what_a_judge_or_a_script_imports_is_an_edit_of_the_grading(
    graded: Project, judge: str, fields: dict[str, Any]
) -> None:
    configure(graded, judge)
    graded.suite(case("a", **fields))
    assert graded.run_process("run", "--json").counts() == {"passed": 1}
    done = graded.run_process("resume", "latest", "--json")
    assert (done.code, "have not changed" in done.err) == (0, True)
    (graded.path / "helper.py").write_text("SAID = 'not_met'\n")
    graded.forget_calls()
    done = graded.run_process("resume", "latest", "--json")
    assert (done.code, done.counts(), graded.calls()) == (1, {"failed": 1}, [])
    assert "regrading stored answers" in done.err


def test_a_judge_whose_code_is_not_there_is_a_reason_to_stop_before_anybody_is_asked(
    graded: Project,
) -> None:
    configure(graded, 'kind = "python"\nfunction = "nosuch:judge"\n')
    graded.suite(case("a", criteria="Is kind."), case("b"))
    done = graded.run("run", "--json")
    assert (done.code, graded.calls()) == (2, [])
    assert "there is no module `nosuch`" in done.err


def test_the_module_of_a_grader_of_ones_own_is_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "from evalcase import Grader, Score\nimport far\nclass Mine(Grader):\n"
        "    name = 'mine'\n    description = 'Is mine.'\n"
        "    def grade(self, context):\n        return Score(far.LEAST)\n"
    )
    (tmp_path / "evalcase.toml").touch()
    (tmp_path / "mine_of_tests.py").write_text(text)
    (tmp_path / "far.py").write_text("LEAST = 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "far", sys)
    import mine_of_tests  # type: ignore[import-not-found]

    named = NamedGrader("mine", mine_of_tests.Mine())
    assert set(Graders([named]).rests_on()) == {"far.py", "mine_of_tests.py"}
    case = canonical_case({"id": "one", "input": []})
    before = Graders([named]).prints_for(case, [named])
    (tmp_path / "far.py").write_text("LEAST = 0.0\n")
    assert Graders([named]).prints_for(case, [named]) != before
