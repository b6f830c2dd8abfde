"""Cases that are made of one: run, resumed, merged and reported like all others."""

import json

import pytest

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
