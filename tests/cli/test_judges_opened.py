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
