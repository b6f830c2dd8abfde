"""Who judges is open before the first trial: what keeps it from that is known before anybody is
paid, and to set it up takes nobody's time who is measured."""

from __future__ import annotations

from typing import Any

import pytest

from tests.run.project import CONFIG, Project, case, finish

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


def test_a_judge_that_a_suite_names_by_its_kind_is_opened_too(project: Project) -> None:
    project.suite(case("a", graders=[{"judge": {"value": "Is kind.", "target": "openai:m"}}]))
    done = project.run("run", env={"OPENAI_API_KEY": ""})
    assert (done.code, project.calls()) == (2, [])
    assert "s.eval.yaml:1:" in done.err
    assert "OPENAI_API_KEY" in done.err


@pytest.mark.parametrize(("chosen", "code"), [(["--case", "b"], 0), (["--case", "c"], 1)])
def test_a_judge_that_no_case_of_the_run_needs_is_not_opened(
    project: Project, chosen: list[str], code: int
) -> None:
    configure(project, OPENAI)
    skipped = case("c", criteria="Is kind.", skip=True)
    project.suite(case("a", criteria="Is kind."), case("b"), skipped)
    assert project.run("run", *chosen, env={"OPENAI_API_KEY": ""}).code == code


def test_a_judge_is_opened_before_the_first_trial(judged: Project) -> None:
    assert judged.run("run", "--concurrency", "1", env=KEY).code == 0
    assert judged.calls() == ["opened", "a", "b"]


def test_the_client_of_a_judge_is_imported_before_the_first_trial(project: Project) -> None:
    # Nobody listens there: what counts is what was imported when the agent was asked.
    configure(project, f'{OPENAI}base_url = "http://127.0.0.1:9"\n')
    code = (
        "import sys\nfrom agent import note\nasync def answer(text):\n"
        "    note('seen', str('evalcase.targets.client' in sys.modules))\n    return 'ok'\n"
    )
    (project.path / "looking.py").write_text(code)
    project.suite(case("a", criteria="Is kind."), target="python:looking:answer")
    done = finish(
        project.start("run", "--retries", "0", env={"OPENAI_API_KEY": "k-4711-0815"}, fresh=True)
    )
    assert (done.code, project.calls("seen")) == (3, ["True"])


def test_resume_opens_a_judge_only_if_something_is_left(judged: Project) -> None:
    assert judged.run("run", env=KEY).code == 0
    judged.forget_calls()
    assert judged.run("resume", "latest").code == 0
    assert judged.calls() == []


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
