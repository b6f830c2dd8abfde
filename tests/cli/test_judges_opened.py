"""Who judges is open before the first trial: what keeps it from that is known before anybody is
paid, and to set it up takes nobody's time who is measured."""

from __future__ import annotations

from typing import Any

import pytest

from tests.run.project import CONFIG, Project, case

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


@pytest.mark.parametrize("edited", [False, True])
def test_resume_is_refused_before_it_asks_if_a_judge_can_t_be_opened(
    judged: Project, edited: bool
) -> None:
    assert judged.run("run", env=KEY).code == 0
    if edited:
        judged.suite(case("a", criteria="Is kind.", threshold=0.5), case("b", criteria="Is kind."))
    else:
        judged.keep_only(1)
    journal = judged.runs()[-1] / "journal.jsonl"
    before = journal.read_bytes()
    judged.forget_calls()
    done = judged.run("resume", "latest")
    assert (done.code, judged.calls()) == (2, ["opened"])
    assert "`j` judges, and can't be opened: JUDGE_KEY is not set" in done.err
    assert journal.read_bytes() == before
    assert judged.run("resume", "latest", env=KEY).code == 0


def test_grade_is_refused_before_it_grades_if_a_judge_can_t_be_opened(judged: Project) -> None:
    assert judged.run("run", env=KEY).code == 0
    before = (judged.runs()[-1] / "journal.jsonl").read_bytes()
    done = judged.run("grade", "latest")
    assert (done.code, "JUDGE_KEY is not set" in done.err) == (2, True)
    assert (judged.runs()[-1] / "journal.jsonl").read_bytes() == before
    assert judged.run("grade", "latest", "--grader", "json").code == 1
    done = judged.run("grade", "latest", "--grader", '{"judge": "Is kind."}')
    assert (done.code, "JUDGE_KEY is not set" in done.err) == (2, True)
