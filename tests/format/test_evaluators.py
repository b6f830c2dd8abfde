"""Suites that were written for AgentV in January 2026: what their evaluators are here."""

from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.config.catalogue import Catalogue
from evalcase.format.migrate import migrate_file
from tests.for_each import for_each

SUITE = """\
dataset: shop
execution:
  evaluators:
    - {name: form, type: code_judge, script: [python3, ../judges/form.py], algorithm: exact}
evalcases:
  - id: a
    expected_outcome: Says when the shop opens.
    input_messages: [{role: user, content: When?}]
    expected_messages: [{role: assistant, content: At nine.}]
  - id: b
    expected_outcome: Is polite.
    input_messages: [{role: user, content: Hi}]
    execution:
      evaluators:
        - {name: polite, type: llm_judge, prompt: ../prompts/polite.md, weight: 2}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalcase.toml").write_text('[judge]\ntarget = "echo"\n')
    for folder in ("shop/evals", "shop/prompts", "shop/judges"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "shop/prompts/polite.md").write_text("Is {{candidate_answer}} polite?")
    (tmp_path / "shop/judges/form.py").write_text("")
    (tmp_path / "shop/evals/s.eval.yaml").write_text(SUITE)
    return tmp_path


def cases(project: Path, text: str | None = None) -> list[dict[str, Any]]:
    path = project / "shop/evals/s.eval.yaml"
    if text is not None:
        path.write_text(text)
    return [case.to_dict() for case in evalcase.load(path)]


def test_scripts_run_in_the_folder_of_the_suite_and_outcomes_add_no_judge(project: Path) -> None:
    first, second = cases(project)
    script = {"type": "script", "value": ["python3", "../judges/form.py"], "name": "form",
              "cwd": "shop/evals", "config": {"algorithm": "exact"}}  # fmt: skip
    assert first["graders"] == [script]
    assert first["criteria_judge"] is False
    judge = {"type": "judge", "name": "polite", "weight": 2, "prompt": "shop/prompts/polite.md"}
    assert second["graders"] == [judge]
    assert second["criteria_judge"] is False


def test_check_names_the_cases_whose_outcome_adds_no_judge(project: Path) -> None:
    found = evalcase.check(project / "shop/evals/s.eval.yaml")
    assert {each.severity for each in found} == {"warning"}
    told = [each for each in found if "adds no judge" in each.message]
    assert [(each.case, each.span and each.span.line) for each in told] == [("a", 7), ("b", 11)]
    assert told[0].hint == "judges see it; under our names that is `criteria_judge: false`"


def test_without_evaluators_an_outcome_needs_a_judge(project: Path) -> None:
    (case,) = cases(project, "evalcases: [{input: Hi, expected_outcome: Is polite.}]")
    assert "criteria_judge" not in case


def test_migrate_leaves_and_tells_of_what_another_name_would_change(project: Path) -> None:
    path = project / "shop/evals/s.eval.yaml"
    before = cases(project, SUITE)
    (migration,) = migrate_file(str(path), Catalogue())
    after = migration.after.decode()
    assert cases(project, after) == before
    assert "name: shop" in after
    assert "    criteria_judge: false\n    criteria: Is polite.\n" in after
    assert "type: code_judge, script: [python3, ../judges/form.py]" in after
    hints = {each.hint for each in migration.left if each.span and each.span.line == 4}
    assert hints == {"another name here may change what the file means"}


def test_migrate_writes_out_the_folder_of_a_script(project: Path) -> None:
    before = cases(project, SUITE.replace(", algorithm: exact", ""))
    (migration,) = migrate_file(str(project / "shop/evals/s.eval.yaml"), Catalogue())
    after = migration.after.decode()
    assert cases(project, after) == before
    assert "type: script, cwd: shop/evals, value: [python3, ../judges/form.py]}" in after


def test_migrate_writes_out_that_an_outcome_adds_no_judge_in_json_as_well(project: Path) -> None:
    path = project / "shop/evals/s.eval.jsonl"
    row = '{"input": "Hi", "expected_outcome": "Polite", "evaluators": [{"type": "json"}]}\n'
    path.write_text(row)
    (migration,) = migrate_file(str(path), Catalogue())
    assert migration.after.decode() == (
        '{"input": "Hi", "criteria_judge": false, "criteria": "Polite", '
        '"graders": [{"type": "json"}]}\n'
    )
    assert migration.left == []


@pytest.mark.parametrize(
    "aggregator", ["{type: code_judge, path: ./gate}", "{type: llm_judge, prompt: Decide.}"]
)
def test_migrate_finds_the_evaluators_of_a_composite_where_they_stand(
    project: Path, aggregator: str
) -> None:
    path = project / "shop/evals/s.eval.yaml"
    composite = f"""\
evalcases:
  - input: Hi
    evaluators:
      - type: composite
        evaluators: [{{type: llm_judge, prompt: Is polite.}}]
        aggregator: {aggregator}
"""
    before = cases(project, composite)
    (migration,) = migrate_file(str(path), Catalogue())
    after = migration.after.decode()
    assert cases(project, after) == before
    assert "evaluators: [{type: judge, prompt: Is polite.}]" in after
    assert [each.span and each.span.line for each in migration.left] == [4]


@for_each(
    ("evaluator", "grader"),
    [
        ({"type": "code_judge", "script": ["x"], "target": {"max_calls": 10}, "threshold": 0.8},
         {"type": "script", "value": ["x"], "max_calls": 10, "config": {"threshold": 0.8}}),
        ({"type": "code_judge", "script": ["x"], "cwd": "."}, {"type": "script", "value": ["x"]}),
        ({"type": "tool_trajectory", "mode": "any_order", "minimums": {"search": 2}},
         {"type": "tool_calls", "needed": {"search": 2}}),
        ({"type": "tool_trajectory", "mode": "in_order",
          "expected": [{"tool": "a", "args": "any"}, {"tool": "b", "args": {"q": 1}}]},
         {"type": "trajectory", "value": [{"tool": "a"}, {"tool": "b", "input": {"q": 1}}],
          "order": "in_order"}),
        ({"type": "field_accuracy", "fields": [
            {"path": "id", "match": "exact", "required": True, "weight": 2},
            {"path": "on", "match": "date", "formats": ["DD-MMM-YYYY", "MM/DD/YYYY"]},
            {"path": "total", "match": "numeric_tolerance", "tolerance": 0.05, "relative": True}]},
         {"type": "fields", "threshold": 0.8, "value": {
             "id": {"expected": "equals", "weight": 2},
             "on": {"expected": "date", "formats": ["%d-%b-%Y", "%m/%d/%Y"]},
             "total": {"expected": "number", "within_percent": 5.0}}}),
        ({"type": "composite", "evaluators": [{"name": "a", "type": "code_judge", "script": ["x"]}],
          "aggregator": {"type": "weighted_average", "weights": {"a": 0.3}}},
         {"type": "weighted", "threshold": 0.8,
          "value": [{"type": "script", "value": ["x"], "name": "a", "weight": 0.3}]}),
        ({"type": "composite", "evaluators": [{"type": "json"}],
          "aggregator": {"type": "code_judge", "path": "node gate.js"}},
         {"type": "script", "value": ["node", "gate.js"], "of": [{"type": "json"}]}),
        ({"type": "composite", "evaluators": [{"type": "json"}],
          "aggregator": {"type": "llm_judge", "prompt": "Decide."}},
         {"type": "all", "value": [
             {"type": "json"}, {"type": "judge", "name": "aggregator", "prompt": "Decide."}]}),
    ],
)  # fmt: skip
def test_evaluators_are_graders_here(evaluator: dict[str, Any], grader: dict[str, Any]) -> None:
    case = evalcase.Case(input="hi", graders=[evaluator])
    assert case.to_dict()["graders"] == [grader]
