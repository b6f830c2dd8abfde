"""`evalcase explain` says what the page of a diagnostic code says, and `check` names it."""

import json
import re
import tomllib
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from jsonschema import Draft202012Validator

import evalcase as package
from evalcase.cli.reference import read_page
from evalcase.config.registry import find_class, list_names
from evalcase.graders.base import declared_grader
from evalcase.types.problem import CODES
from tests.cli.command import evalcase, shell
from tests.cli.in_process import run_in_process
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.for_each import for_each
from tests.run.project import Project

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "diagnostics"


def explain(folder: Path, *arguments: str) -> tuple[int, str, str]:
    ended = run_in_process(["explain", *arguments], cwd=folder, env={})
    return ended.code, ended.stdout.decode(), ended.stderr.decode()


@for_each("code", CODES)
def test_every_code_has_its_page(code: str) -> None:
    assert read_page(code) == (PAGES / f"{code}.md").read_text(encoding="utf-8")


def test_an_installed_package_has_the_same_pages() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    included = build["targets"]["wheel"]["force-include"]
    assert included == {"docs/diagnostics": "evalcase/diagnostics"}


def test_a_code_is_explained_as_it_is_printed(tmp_path: Path) -> None:
    code, told, _ = explain(tmp_path, "error[unknown-field]")
    assert code == 0
    assert told.lstrip().startswith("unknown-field\n\nError. A field isn't part of the format.\n")
    assert "expcted_output: Lima" in told
    assert explain(tmp_path, "unknown-field") == (0, told, "")


def test_a_code_that_is_not_there_is_answered_with_the_nearest(tmp_path: Path) -> None:
    code, told, error = explain(tmp_path, "unknown-feild")
    assert (code, told) == (2, "")
    assert "did you mean `unknown-field`?" in error
    for strange in ("xyz", "not-a-list"):
        assert "lists all codes" in explain(tmp_path, strange)[2]


def test_without_a_code_all_are_listed(tmp_path: Path) -> None:
    code, told, _ = explain(tmp_path)
    assert code == 0
    assert [line.split()[0] for line in told.splitlines()] == [*CODES]


def test_on_a_terminal_the_list_is_broken_between_words(tmp_path: Path) -> None:
    terminal = PseudoTerminal(tmp_path, "explain")
    terminal.finish()
    lines = terminal.text.splitlines()
    assert max(map(len, lines)) <= 80
    start = next(at for at, line in enumerate(lines) if line.startswith("unknown-file-type"))
    assert lines[start].endswith(" evalcase doesn't")
    assert lines[start + 1].split() == ["read."]


def test_check_names_it_on_a_terminal_where_there_are_problems(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text("input: hi\nexpcted_output: x\n")
    (tmp_path / "b.eval.yaml").write_text("input: hi\nexpected_output: x\n")
    piped = run_in_process(["check", "a.eval.yaml"], cwd=tmp_path, env={})
    assert b"evalcase explain" not in piped.stdout
    assert "evalcase explain unknown-field tells more" in _show_on_terminal(tmp_path, "a.eval.yaml")
    assert "evalcase explain" not in _show_on_terminal(tmp_path, "b.eval.yaml")


def _show_on_terminal(folder: Path, name: str) -> str:
    terminal = PseudoTerminal(folder, "check", name)
    terminal.finish()
    return terminal.text


# Graders


def test_every_grader_is_listed_with_when_it_passes(project: Project) -> None:
    done = project.run("graders")
    assert done.code == 0
    listed = [line.split()[0] for line in done.out.partition("\n\n")[0].split("\n")
              if not line.startswith(" ")]  # fmt: skip
    assert listed == list_names("graders")
    of_all, of_most = done.out.partition("options of all graders\n")[2].split("\n\n")
    assert [row.split()[0] for row in of_all.splitlines() if row[2] != " "] == [
        "name", "weight", "required", "indicator", "timeout_s", "not",
    ]  # fmt: skip
    assert of_most.startswith("options of most graders (")
    assert [row.split()[0] for row in of_most.splitlines()[1:] if row[2] != " "] == [
        "threshold", "path", "ignore_case", "ignore_space",
    ]  # fmt: skip


def test_the_options_of_all_graders_are_taken_by_all() -> None:
    of_all = {"name", "weight", "required", "indicator", "timeout_s", "not"}
    for name in list_names("graders"):
        assert of_all <= declared_grader(find_class("graders", name)).options.keys(), name


def test_one_is_explained_by_what_it_declares(project: Project) -> None:
    done = project.run("graders", "length")
    assert done.code == 0
    assert done.out.startswith(
        "length: Limits the length of the answer, in characters, words or lines."
    )
    assert "  - length: {max: 50, unit: words}\n" in done.out
    for option in ("min", "max", "unit"):
        assert f"\n  {option} " in done.out
    further = "ignore_case, ignore_space, threshold, path, those of all graders"
    assert " ".join(done.out.split()).endswith(f"further options: {further}")


def test_what_a_grader_needs_is_told_with_its_own_options(project: Project) -> None:
    for name in list_names("graders"):
        declared = declared_grader(find_class("graders", name))
        needed = [each.name for each in declared.options.values() if each.needed]
        own, others = project.run("graders", name).out.split("\nfurther options: ")
        told = " ".join(own.split())
        for each in needed:
            assert f" {each} " in told
            assert each not in " ".join(others.split()).split(", ")
        assert told.count("needed") >= len(needed), name


def test_options_within_options_are_shown(project: Project) -> None:
    out = project.run("graders", "fields").out
    assert "options within `value`\n  equals " in out
    assert "options within `tools`\n  arguments " in project.run("graders", "trajectory").out


def test_a_ready_rubric_is_printed_as_it_stands(project: Project) -> None:
    from evalcase.graders.rubrics import RUBRIC_NAMES, rubric_text

    for name in RUBRIC_NAMES:
        assert project.run("graders", name).out == rubric_text(name)


def test_a_name_that_nobody_knows_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    done = run_in_process(["graders", "filds"], cwd=tmp_path, env={})
    assert (done.code, done.stdout) == (2, b"")
    assert done.stderr == b"evalcase: there is no grader kind `filds`: did you mean `fields`?\n"


# Schema


def test_the_schema_is_a_json_schema() -> None:
    result = evalcase("schema")
    assert (result.code, result.err) == (0, "")
    schema = json.loads(result.stdout)
    assert jsonschema_rs.meta.is_valid(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_schema_judges_like_the_reader() -> None:
    validator = Draft202012Validator(json.loads(evalcase("schema").stdout))
    good = yaml.safe_load("cases: [{id: sum, input: 'What is 2+2?', expected_output: '4'}]")
    assert validator.is_valid(good)
    assert validator.is_valid([{"input": [{"role": "user", "content": "hi"}]}])
    assert not validator.is_valid({"cases": [{"input": "hi", "expcted_output": "x"}]})
    assert not validator.is_valid({"cases": [{"input": 5}]})
    assert not validator.is_valid({"cases": []})


def test_every_field_is_explained_in_the_editor() -> None:
    schema = json.loads(evalcase("schema").stdout)
    fields = [
        (name, field)
        for part in schema["$defs"].values()
        for name, field in part.get("properties", {}).items()
        if name in ("input", "expected_output", "criteria", "graders", "rubrics")
    ]
    assert fields
    for name, field in fields:
        text = json.dumps(field)
        assert "description" in text or "$ref" in text, name


def test_the_example_of_its_help_works(tmp_path: Path) -> None:
    assert shell("$EVALCASE schema > evalcase.schema.json", cwd=tmp_path).code == 0
    json.loads((tmp_path / "evalcase.schema.json").read_bytes())
    line = re.search(r"# yaml-language-server: .*", evalcase("schema", "--help").out)
    assert line is not None
    (tmp_path / "x.eval.yaml").write_text(f"{line[0]}\n- input: hi\n  expected_output: x\n")
    assert evalcase("check", cwd=tmp_path).code == 0


def test_the_schema_of_the_configuration() -> None:
    result = evalcase("schema", "--config")
    assert (result.code, result.err) == (0, "")
    schema = json.loads(result.stdout)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"target": "echo", "targets": {"a": {"kind": "echo"}}})
    assert not validator.is_valid({"tagret": "echo"})
    assert not validator.is_valid({"targets": {"a": {"kind": "echo", "delay": 3}}})


def test_the_schema_of_the_file_beside_jsonl() -> None:
    result = evalcase("schema", "--sidecar")
    assert (result.code, result.err) == (0, "")
    validator = Draft202012Validator(json.loads(result.stdout))
    assert validator.is_valid({"name": "big", "input": "Be brief.", "graders": ["expected"]})
    assert not validator.is_valid({"cases": [{"input": "hi"}]})
    assert not validator.is_valid({"nam": "big"})


# Show


SUITE = """\
name: Maths
description: Sums.
input: Be brief.
tags: [sums]
graders: [expected]
cases:
- id: sum
  input: "What is 2+2?"
  expected_output: "4"
- id: risk
  input_messages: {question: "…", k: 3}
  expected_messages: {riskLevel: High, "": [1, 2.5, null, true]}
  metadata: {text: "line\\nline\\u2028 \\e[31m"}
- input: no id
  expected_output: It answers.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "math.eval.yaml").write_text(SUITE)
    (tmp_path / "bad.eval.yaml").write_text("- id: a\n  input: 5\n- input_messages: x\n")
    (tmp_path / "one.yaml").write_text("id: one\ninput: hi\nexpected_output: x\n")
    return tmp_path


def test_json_is_the_canonical_form(folder: Path) -> None:
    result = evalcase("show", "math.eval.yaml", cwd=folder)
    assert (result.code, result.err) == (0, "")
    suite = json.loads(result.stdout)
    assert suite == package.load(folder / "math.eval.yaml").to_dict()
    assert list(suite) == ["name", "description", "cases"]
    assert suite["cases"][1]["expected_output"] == [
        {"role": "assistant", "content": {"riskLevel": "High", "": [1, 2.5, None, True]}}
    ]


@pytest.mark.parametrize("format", ["json", "yaml"])
def test_what_is_shown_is_an_eval_file_that_means_the_same(folder: Path, format: str) -> None:
    result = evalcase("show", "--format", format, "math.eval.yaml", cwd=folder)
    (folder / f"again.{format}").write_bytes(result.stdout)
    assert evalcase("check", "--strict", f"again.{format}", cwd=folder).code == 0
    again = package.load(folder / f"again.{format}")
    assert again.to_dict() == package.load(folder / "math.eval.yaml").to_dict()
    assert evalcase("show", "--format", format, f"again.{format}", cwd=folder) == result


def test_jsonl_is_one_case_a_line(folder: Path) -> None:
    result = evalcase("show", "--format", "jsonl", "math.eval.yaml", cwd=folder)
    assert (result.code, result.err) == (0, "")
    lines = result.out.removesuffix("\n").split("\n")
    suite = package.load(folder / "math.eval.yaml")
    assert [json.loads(line) for line in lines] == [case.to_dict() for case in suite]
    (folder / "again.jsonl").write_bytes(result.stdout)
    assert package.load(folder / "again.jsonl").cases == suite.cases


@pytest.mark.parametrize("format", ["json", "jsonl", "yaml"])
def test_no_text_reaches_the_terminal_as_a_control(folder: Path, format: str) -> None:
    out = evalcase("show", "--format", format, "math.eval.yaml", cwd=folder).out
    assert "\x1b" not in out
    assert "\u2028" not in out


@pytest.mark.parametrize("format", ["json", "yaml"])
def test_one_case(folder: Path, format: str) -> None:
    result = evalcase("show", "math.eval.yaml", "--case", "sum", "--format", format, cwd=folder)
    assert (result.code, result.err) == (0, "")
    (case,) = package.loads(result.out, format)  # type: ignore[arg-type]
    assert case == package.load(folder / "math.eval.yaml")["sum"]


def test_a_case_that_does_not_exist(folder: Path) -> None:
    result = evalcase("show", "math.eval.yaml", "--case", "smu", cwd=folder)
    assert (result.code, result.out) == (2, "")
    assert "there is no case `smu`; did you mean `sum`?" in result.err
    both = evalcase("show", "math.eval.yaml", "--case", "sum", "--case", "zzzzz", cwd=folder)
    assert both.code == 2
    assert [case["id"] for case in json.loads(both.stdout)] == ["sum"]
    assert "there is no case `zzzzz`" in both.err


def test_a_case_of_a_file_with_errors_is_not_said_to_be_missing(folder: Path) -> None:
    (folder / "both.eval.yaml").write_text(
        "cases:\n  - {id: fine, input: a, expected_output: b}\n  - {id: other, inptu: a}\n"
    )
    result = evalcase("show", "both.eval.yaml", "--case", "fine", cwd=folder)
    assert result.code == 2
    assert "there is no case `fine` in a file without errors" in result.err


def test_a_bad_file_is_told_on_standard_error_and_the_rest_is_shown(folder: Path) -> None:
    result = evalcase("show", "bad.eval.yaml", "one.yaml", cwd=folder)
    assert result.code == 2
    (shown,) = json.loads(result.stdout)
    assert shown["cases"][0]["id"] == "one"
    assert "bad.eval.yaml:2:10: error[wrong-type]" in result.err
    # Only what keeps it from being shown: warnings are for check.
    assert "warning" not in result.err


def test_several_suites(folder: Path) -> None:
    (folder / "bad.eval.yaml").unlink()
    suites = json.loads(evalcase("show", "math.eval.yaml", "one.yaml", cwd=folder).stdout)
    assert [suite["name"] for suite in suites] == ["Maths", "one"]
    lines = evalcase("show", ".", "one.yaml", "--format", "jsonl", cwd=folder).out.splitlines()
    assert len(lines) == 4
    text = evalcase("show", "math.eval.yaml", "one.yaml", "--format", "yaml", cwd=folder).out
    documents = text.split("---\n")[1:]
    assert [package.loads(document).name for document in documents] == ["Maths", "one"]


def test_standard_input(folder: Path) -> None:
    line = b'{"id": "a", "input": "hi", "expected_output": "x"}\n'
    result = evalcase("show", "-", "--stdin-format", "jsonl", stdin=line)
    assert json.loads(result.stdout)["name"] == "stdin"
    assert evalcase("show", "-", stdin=b"[").code == 2
    result = evalcase("show", "-", "--stdin-format", "json", stdin=b"[" + line + b"]")
    assert json.loads(result.stdout)["cases"][0]["id"] == "a"
    assert evalcase("show", "-", stdin=SUITE.encode(), cwd=folder).code == 0
