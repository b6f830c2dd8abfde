from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalcase as package
from tests.cli.command import evalcase

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
