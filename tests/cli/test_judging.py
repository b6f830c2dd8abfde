"""Judges in runs: what is said of them before, and how their verdicts are shown."""

from __future__ import annotations

import pytest

from tests.run.project import CONFIG, Project

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
def judged(project: Project) -> Project:
    project.add_to_agent(JUDGE)
    project.configure(CONFIG + TABLE)
    return project


def test_a_judge_of_its_own_answers_is_warned_of(project: Project) -> None:
    project.configure(f"{CONFIG}[judge]\ntarget = 'agent'\n")
    project.suite({"id": "a", "input": "hi", "criteria": "Is kind."})
    assert "`agent` judges its own answers" in project.run("run").err
    assert "judges its own answers" not in project.run("run", "--target", "other").err
    # That it is asked about one case and judges another is fine.
    judged = {"id": "a", "input": "hi", "criteria": "Is kind.", "target": "other"}
    project.suite(judged, {"id": "b", "input": "hi", "expected_output": "ok"})
    assert "judges its own answers" not in project.run("run").err


def test_a_judged_case_is_shown_criterion_by_criterion(judged: Project) -> None:
    rubrics = [{"id": "kind", "text": "Is kind."}, {"text": "Is short.", "weight": 3}]
    judged.suite({"id": "a", "input": "hi", "rubrics": rubrics})
    judged.run("run")
    out = judged.run("report", "--case", "a").out
    assert out.partition("by judge, 1 call, ")[2].partition("\n")[2] == SHOWN


def test_votes_and_what_could_not_be_read_are_shown(judged: Project) -> None:
    judged.configure(f"{CONFIG}{TABLE}votes = 3\n")
    unknown = {"type": "judge", "value": "Nobody knows."}
    judged.suite({"id": "a", "input": "hi", "rubrics": ["Is kind."], "graders": ["judge", unknown]})
    judged.run("run")
    out = judged.run("report", "--case", "a").out
    assert "met       c1: Is kind. (3 × met)\n" in out
    assert out.count("c1 met: It says please.\n") == 3
    assert out.count("judged by judge, the judge's reply can't be read") == 3
    assert "; it said “" in out
    assert "{'judge'" not in out
