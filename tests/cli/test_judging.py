"""Judges in runs: what is said of them before, and how their verdicts are shown."""

from __future__ import annotations

import json

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
    assert out.count("judged by judge, asked 3 times, the judge's reply can't be read") == 3
    assert "; it said “" in out
    assert "{'judge'" not in out


VOTER = '''
import itertools
turns = itertools.count()

def voter(messages):
    """Two of three are for it, with one criterion; with others it is of one mind."""
    text = messages[-1]["content"]
    word = "met" if "Is calm." not in text or next(turns) % 3 else "not_met"
    return json.dumps({"c1": {"reason": "so", "verdict": word}})
'''


def test_how_far_votes_agree_is_said_of_each_suite(judged: Project) -> None:
    judged.add_to_agent(VOTER)
    table = TABLE.replace("agent:judge", "agent:voter")
    judged.configure(f"{CONFIG}{table}votes = 3\n")
    judged.suite(
        {"id": "a", "input": "hi", "criteria": "Is kind."},
        {"id": "b", "input": "ho", "criteria": "Is calm."},
    )
    shown = "votes    Fleiss' kappa on 2 criteria: -0.20\n"
    assert shown in judged.run("run", "-v", "--concurrency", "1").out
    assert shown in judged.run("report", "-v").out
    judged.configure(f"{CONFIG}{table}")
    assert "Fleiss" not in judged.run("run", "-v").out


def test_two_judges_of_a_case_have_names_of_their_own(judged: Project) -> None:
    judged.suite({"id": "a", "input": "hi", "criteria": "Is kind.",
                  "graders": [{"judge": "Is short."}, {"judge": "Is kind."}]})  # fmt: skip
    judged.run("run")
    row = json.loads(judged.run("report", "--format", "jsonl").out)
    assert [grade["grader"] for grade in row["grades"]] == ["judge", "judge 2", "criteria"]


def test_a_judge_without_a_price_is_warned_of_where_there_is_a_spending_cap(
    judged: Project,
) -> None:
    judged.suite({"id": "a", "input": "cost 0.1", "criteria": "Is kind."})
    said = "answers of `judge` come without a cost: the spending cap can't be enforced"
    assert said not in judged.run("run").err
    capped = judged.run("run", "--max-cost", "5").err
    assert capped.count(said) == 1
    assert "`agent` come without a cost" not in capped
