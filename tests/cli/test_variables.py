"""Cases that are made of one: run, resumed, merged and reported like all others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_merge import merge, run_shards
from tests.report.page.opened import open_page
from tests.run.project import Project

SUITE = """
target: python:agent:answer
vars: {greeting: hi}
cases:
  - id: say
    matrix: {lang: [de, en], prompt: {short: "Be brief.", long: "Tell {{all}}."}}
    input: "say {{lang}} {{prompt}}"
    expected_output: "{{lang}}"
  - {id: other, input: "say {{greeting}}", expected_output: "{{greeting}}"}
"""

AGENT = """
def answer(text):
    with open("calls", "a") as file:
        file.write(text + "\\n")
    return text.split()[1] if "Tell" not in text else "no"
"""


@pytest.fixture
def suite(project: Project) -> Project:
    (project.path / "s.eval.yaml").write_text(SUITE)
    (project.path / "agent.py").write_text(AGENT)
    return project


def asked(project: Project) -> list[str]:
    """What was asked since this was last looked at."""
    calls = project.path / "calls"
    lines = calls.read_text().splitlines() if calls.exists() else []
    calls.unlink(missing_ok=True)
    return lines


def test_a_glob_chooses_all_cases_of_one(suite: Project) -> None:
    done = suite.run("run", "s.eval.yaml", "--case", "say:*", "--json")
    assert (done.json["total"], done.json["passed"]) == (4, 2)
    done = suite.run("run", "s.eval.yaml", "--case", "say:lang=de,*", "--json")
    assert done.json["total"] == 2


def test_after_an_edit_of_a_variable_only_what_changed_is_asked(suite: Project) -> None:
    suite.run("run", "s.eval.yaml")
    assert len(asked(suite)) == 5
    path = suite.path / "s.eval.yaml"
    path.write_text(SUITE.replace("greeting: hi", "greeting: ho"))
    suite.run("resume", "latest")
    assert asked(suite) == ["say ho"]
    path.write_text(path.read_text().replace("Be brief.", "Be quick."))
    suite.run("resume", "latest")
    assert sorted(asked(suite)) == ["say de Be quick.", "say en Be quick."]


def test_after_an_edit_of_a_file_only_what_changed_is_asked(suite: Project) -> None:
    """Also where it is a row of a table."""
    text = "target: python:agent:answer\ncases:\n- {id: a, rows: qa.csv, input: 'say {{q}}', expected_output: '{{q}}'}\n- {id: b, var_files: {f: f.txt}, input: 'say {{f}}', expected_output: '{{f}}'}\n"  # noqa: E501
    (suite.path / "s.eval.yaml").write_text(text)
    (suite.path / "qa.csv").write_text("id,q\n1,one\n2,two\n")
    (suite.path / "f.txt").write_text("file")
    assert suite.run("run", "s.eval.yaml").code == 0
    assert sorted(asked(suite)) == ["say file", "say one", "say two"]
    (suite.path / "qa.csv").write_text("id,q\n1,one\n2,zwei\n")
    (suite.path / "f.txt").write_text("text")
    suite.run("resume", "latest")
    assert sorted(asked(suite)) == ["say text", "say zwei"]


def test_results_have_the_variables_of_their_cases(suite: Project) -> None:
    suite.run("run", "s.eval.yaml")
    lines = suite.run("report", "--format", "jsonl").out.splitlines()
    found = {line["case"]: line["vars"] for line in map(json.loads, lines)}
    assert found["say:lang=de,prompt=long"] == {"greeting": "hi", "lang": "de", "prompt": "long"}
    assert found["other"] == {"greeting": "hi"}
    assert "vars" in suite.run("report", "--format", "csv").out.splitlines()[0]


def test_rates_are_shown_by_the_values_of_a_variable(suite: Project) -> None:
    suite.run("run", "s.eval.yaml")
    out = suite.run("report", "--by", "vars.prompt").out
    assert "vars.prompt  passed  failed  pass rate" in out
    assert "vars.lang" not in out
    figures = json.loads(suite.run("report", "--format", "json").out)["figures"]["by_vars"]
    assert {name: part["rate"] for name, part in figures["prompt"].items()} == {
        "short": 1.0, "long": 0.0
    }  # fmt: skip
    assert figures["lang"]["de"]["n"] == 2
    markdown = suite.run("report", "--format", "markdown").out
    assert "<details><summary>by <code>vars.prompt</code></summary>" in markdown
    assert "vars.greeting" not in markdown


def test_a_variable_that_is_another_in_each_case_makes_no_groups(project: Project) -> None:
    (project.path / "rows.csv").write_text("id,kind\nx,odd\ny,even\nz,odd\n")
    project.suite(
        {"id": "a", "input": "say {{id}} {{kind}}", "expected_output": "no", "rows": "rows.csv"}
    )
    project.run("run")
    markdown = project.run("report", "--format", "markdown").out
    assert "vars.kind" in markdown
    assert "vars.id" not in markdown
    assert "vars.id" in project.run("report", "--by", "vars.id").out


def test_merged_runs_report_alike(suite: Project) -> None:
    run_shards(suite, 2)
    merge(suite, "shards")
    figures = json.loads(suite.run("report", "--format", "json").out)["figures"]["by_vars"]
    assert figures["lang"]["en"]["n"] == 2
    assert "vars.lang" in suite.run("report", "--by", "vars.lang").out


@pytest.mark.parametrize(
    ("by", "said"),
    [("vars.promt", "did you mean `prompt`?"), ("vars.", "and vars.NAME"),
     ("language", "is not one of target, tag, suite, grader and vars.NAME")],
)  # fmt: skip
def test_a_variable_that_no_case_has_is_refused(suite: Project, by: str, said: str) -> None:
    suite.run("run", "s.eval.yaml")
    done = suite.run("report", "--by", by)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_the_name_of_a_case_that_has_only_variants_is_told(suite: Project) -> None:
    text = "target: echo\ncases: [{id: w, matrix: {x: [a, b]}, input: '{{x}}', expected_output: a}]"
    (suite.path / "s.eval.yaml").write_text(text)
    suite.run("run", "s.eval.yaml")
    for command in (["run", "s.eval.yaml", "--case", "w"], ["report", "--case", "w"]):
        done = suite.run(*command)
        assert (done.code, "it only has variants: use `w:*`" in done.err) == (2, True), done.err
    assert "w:x=a" in suite.run("report", "--case", "w:*").out


def test_a_variable_with_too_many_values_is_no_group(suite: Project) -> None:
    rows = "".join(f"{number},{number}\n" for number in range(201))
    (suite.path / "qa.csv").write_text(f"id,q\n{rows}")
    text = "target: echo\ncases: [{id: a, rows: qa.csv, input: '{{q}}', expected_output: '{{q}}'}]"
    (suite.path / "s.eval.yaml").write_text(text)
    suite.run("run", "s.eval.yaml")
    assert json.loads(suite.run("report", "--format", "json").out)["figures"]["by_vars"] == {}
    assert "more than 200 values" in suite.run("report", "--by", "vars.q").err


def test_the_page_has_variables_to_group_by(suite: Project, tmp_path: Path) -> None:
    suite.run("run", "s.eval.yaml")
    page = tmp_path / "run.html"
    assert suite.run("report", "--format", "html", "-o", str(page)).code == 0
    assert ["lang", "de"] in open_page(page.read_bytes()).rows[0]["vars"]


def test_show_migrate_and_fix_are_right_about_them(suite: Project) -> None:
    """What is shown is rendered; what is renamed keeps its tags."""
    shown = json.loads(suite.run("show", "s.eval.yaml", "--case", "say:lang=de,prompt=short").out)
    assert shown["input"][0]["content"] == "say de Be brief."
    path = suite.path / "s.eval.yaml"
    path.write_text(SUITE.replace("input:", "input_messages:"))
    assert suite.run("migrate", "s.eval.yaml").code == 0
    assert path.read_text() == SUITE
    path.write_text(SUITE.replace("expected_output:", "expcted_output:"))
    suite.run("check", "--fix", "s.eval.yaml")
    assert path.read_text() == SUITE
