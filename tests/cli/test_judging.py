"""Judges in runs: what is said of them before, and how their verdicts are shown."""

import sys
from pathlib import Path
from typing import Any

import pytest

from evalcase.graders.base import NamedGrader
from evalcase.runner.graders import Graders
from evalcase.types.case import canonical_case
from tests.run.project import CONFIG, Project, case

JUDGE = '''
import json

VERDICTS = {"Is kind.": ("met", "It says please."), "Is short.": ("not_met", "It goes on.")}

def judge(messages):
    """Knows two criteria by heart."""
    lines = [line.partition(": ") for line in messages[-1]["content"].split("\\n")]
    said = {
        key: dict(zip(("verdict", "reason"), VERDICTS[text]))
        for key, _, text in lines if text in VERDICTS
    }
    return json.dumps(said)
'''
SHOWN = """\
    "Is short." not met: It goes on.; (1·1 + 3·0) ÷ 4 (score 0.25, needs 1)
    met       kind: Is kind.
              It says please.
    not met   c2: Is short. (weight 3)
              It goes on.
    judged by judge
"""
TABLE = """
[targets.judge]
kind = "python"
function = "agent:judge"
[judge]
target = "judge"
"""


@pytest.fixture
def with_judge(project: Project) -> Project:
    project.add_to_agent(JUDGE)
    project.configure(CONFIG + TABLE)
    return project


def test_a_judge_of_its_own_answers_is_warned_of(project: Project) -> None:
    project.configure(f"{CONFIG}[judge]\ntarget = 'agent'\n")
    project.suite({"id": "a", "input": "hi", "criteria": "Is kind."})
    assert "`agent` judges its own answers" in project.run("run").err
    assert "judges its own answers" not in project.run("run", "--target", "other").err
    # That it is asked about one case and judges another is fine.
    elsewhere = {"id": "a", "input": "hi", "criteria": "Is kind.", "target": "other"}
    project.suite(elsewhere, {"id": "b", "input": "hi", "expected_output": "ok"})
    assert "judges its own answers" not in project.run("run").err


def test_a_judged_case_is_shown_criterion_by_criterion(with_judge: Project) -> None:
    rubrics = [{"id": "kind", "text": "Is kind."}, {"text": "Is short.", "weight": 3}]
    with_judge.suite({"id": "a", "input": "hi", "rubrics": rubrics})
    with_judge.run("run")
    out = with_judge.run("report", "--case", "a").out
    assert out.partition("by judge, 1 call, ")[2].partition("\n")[2] == SHOWN


def test_votes_and_what_could_not_be_read_are_shown(with_judge: Project) -> None:
    with_judge.configure(f"{CONFIG}{TABLE}votes = 3\n")
    unknown = {"type": "judge", "value": "Nobody knows."}
    with_judge.suite(
        {"id": "a", "input": "hi", "rubrics": ["Is kind."], "graders": ["judge", unknown]}
    )
    with_judge.run("run")
    out = with_judge.run("report", "--case", "a").out
    assert "met       c1: Is kind. (3 × met)\n" in out
    assert out.count("c1 met: It says please.\n") == 3
    assert out.count("judged by judge, the judge's reply can't be read") == 3
    assert "; it said “" in out
    assert "{'judge'" not in out


# Who judges is open before the first trial


JUDGING = """
import json
import os
from evalcase import ConfigError
from agent import note


class Judge:
    def open(self):
        note("calls", "opened")
        if not os.environ.get("JUDGE_KEY"):
            raise ConfigError("JUDGE_KEY is not set")

    def answer(self, messages):
        lines = [line.partition(": ") for line in messages[-1]["content"].split("\\n")]
        keys = [key for key, _, text in lines if text == "Is kind."]
        return json.dumps({key: {"verdict": "met", "reason": "So."} for key in keys})
"""
OWN = 'kind = "python"\nfunction = "judging:Judge"\n'
OPENAI = 'kind = "openai"\nmodel = "m"\n'
KEY = {"JUDGE_KEY": "k-4711-0815"}


def configure(project: Project, judge: str) -> None:
    project.configure(f'{CONFIG}\n[targets.j]\n{judge}\n[judge]\ntarget = "j"\n')


@pytest.fixture
def judged(project: Project) -> Project:
    (project.path / "judging.py").write_text(JUDGING)
    configure(project, OWN)
    project.suite(case("a", criteria="Is kind."), case("b", criteria="Is kind."))
    return project


@pytest.mark.parametrize(
    "fields",
    [
        {"criteria": "Is kind."},
        {"graders": [{"judge": "Is kind."}]},
        {"graders": [{"any": [{"judge": {"value": "Is kind.", "panel": ["j"]}}]}]},
    ],
)
def test_a_judge_without_its_key_is_noticed_before_anybody_is_asked(
    project: Project, fields: dict[str, Any]
) -> None:
    configure(project, OPENAI)
    project.suite(case("a", **fields), case("b"))
    done = project.run("run", env={"OPENAI_API_KEY": ""})
    assert (done.code, project.calls(), project.runs()) == (2, [], [])
    assert "evalcase.toml:14:" in done.err
    assert "`j` judges, and can't be opened: openai target: the environment variable " in done.err
    assert "OPENAI_API_KEY" in done.err
    assert "nothing was run" in done.err


@pytest.mark.parametrize(("chosen", "code"), [(["--case", "b"], 0), (["--case", "c"], 1)])
def test_a_judge_that_no_case_of_the_run_needs_is_not_opened(
    project: Project, chosen: list[str], code: int
) -> None:
    configure(project, OPENAI)
    skipped = case("c", criteria="Is kind.", skip=True)
    project.suite(case("a", criteria="Is kind."), case("b"), skipped)
    assert project.run("run", *chosen, env={"OPENAI_API_KEY": ""}).code == code


def test_resume_opens_a_judge_only_if_something_is_left(judged: Project) -> None:
    assert judged.run("run", env=KEY).code == 0
    judged.forget_calls()
    assert judged.run("resume", "latest").code == 0
    assert judged.calls() == []


# What verdicts rest on beside the cases: after an edit of it, resume grades again


IMPORTING_JUDGE = """
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


def configure_judge(project: Project, judge: str) -> None:
    project.configure(f'{CONFIG}[targets.j]\n{judge}[judge]\ntarget = "j"\n')


@pytest.fixture
def graded(project: Project) -> Project:
    (project.path / "judging.py").write_text(IMPORTING_JUDGE)
    (project.path / "check.py").write_text(CHECK)
    (project.path / "helper.py").write_text("SAID = 'met'\n")
    configure_judge(project, PYTHON)
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
    configure_judge(graded, judge)
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
    configure_judge(graded, 'kind = "python"\nfunction = "nosuch:judge"\n')
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
