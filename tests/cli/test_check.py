from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.cli.command import evalcase

GOOD = "- input: hi\n  expected_output: x\n"
OLD = "- input_messages: hi\n  expected_output: x\n"
BAD = "- id: a\n  input: 5\n"
NOTED = dedent("""\
    - id: n
      input: hi
      expected_output:
      - {role: user, content: a}
      - {role: assistant, content: b}
    """)
FIELDS = ["code", "severity", "message", "hint", "path"]
FIELDS += ["line", "column", "end_line", "end_column", "case"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.eval.yaml").write_text(GOOD)
    (tmp_path / "bad.eval.yaml").write_text(BAD)
    (tmp_path / "old.eval.yaml").write_text(OLD)
    (tmp_path / "noted.eval.yaml").write_text(NOTED)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("bot.py", "eval files end in .yaml"),
    ],
)
def test_files_that_are_no_suites_say_what_they_are_for(
    tmp_path: Path, name: str, hint: str
) -> None:
    (tmp_path / name).write_text("")
    for command in (["check", name], ["run", name, "--target", "echo"]):
        result = evalcase(*command, cwd=tmp_path)
        assert result.code == 2
        assert hint in result.out + result.err


def test_a_good_file(folder: Path) -> None:
    result = evalcase("check", "good.eval.yaml", cwd=folder)
    assert result == (0, b"no problems found: 1 case in 1 file\n", b"")


def test_a_bad_file_in_full(folder: Path) -> None:
    result = evalcase("check", "bad.eval.yaml", cwd=folder)
    assert (result.code, result.err) == (2, "")
    headline, *rest = result.out.splitlines()
    assert headline.startswith("bad.eval.yaml:2:10: error[wrong-type]: `input` is ")
    assert rest == [
        "  2 |   input: 5",
        "    |          ^",
        '    = write it in quotes: "5"',
        "",
        "1 error in 1 file",
    ]


@pytest.mark.parametrize(("name", "code"), [("good", 0), ("noted", 0), ("old", 2), ("bad", 2)])
def test_strict_counts_warnings_as_errors(folder: Path, name: str, code: int) -> None:
    for format in ("text", "json"):
        result = evalcase("check", "--strict", "--format", format, f"{name}.eval.yaml", cwd=folder)
        assert (result.code, result.err) == (code, "")


def test_without_paths_the_current_folder_is_searched(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "x.eval.jsonl").write_text('{"input": 5}\n')
    (folder / "ignored.yaml").write_text("[")
    result = evalcase("check", cwd=folder)
    assert result.code == 2
    places = re.findall(r"^(\S+): (?:error|warning|note)", result.out, re.MULTILINE)
    assert places == [
        "bad.eval.yaml:2:10",
        "noted.eval.yaml:4:5",
        "old.eval.yaml:1:3",
        "sub/x.eval.jsonl:1:11",
    ]
    assert result.out.endswith("2 errors, 1 warning, 1 note in 4 files\n")


def test_paths_that_are_no_suites(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").touch()
    for path, said in [
        ("missing.yaml", "missing.yaml: error[unreadable-file]: there is no such file or folder"),
        ("missing", "missing: error[unreadable-file]: there is no such file or folder"),
        (
            "x.txt",
            "x.txt: error[unknown-file-type]: evalcase doesn't read files that end in `.txt`",
        ),
        ("empty", "empty: error[no-suites]: there are no eval files in this folder"),
        ("", "error[unreadable-file]: there is no such file or folder"),
    ]:
        result = evalcase("check", path, cwd=tmp_path)
        assert (result.code, result.err) == (2, "")
        assert said in result.out
        assert ".eval.yaml" in result.out or ".jsonl" in result.out or "no such file" in result.out


# Standard input


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("yaml", "- input: 5\n"),
        ("json", '[{"input": 5}]'),
        ("jsonl", '{"input": 5}\n{"input": "hi", "expected_output": "x"}\n'),
    ],
)
def test_standard_input_in_every_format(format: str, text: str) -> None:
    result = evalcase("check", "-", "--stdin-format", format, stdin=text.encode())
    assert (result.code, result.err) == (2, "")
    assert result.out.startswith("-:1:")
    good = text.replace("5", '"five", "expected_output": "x"' if format != "yaml" else "five")
    if format == "yaml":
        good += "  expected_output: x\n"
    assert evalcase("check", "-", "--stdin-format", format, stdin=good.encode()).code == 0


# JSON


def problems(result: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def test_json_has_exactly_these_fields(folder: Path) -> None:
    found = problems(evalcase("check", "--format", "json", "missing.yaml", cwd=folder))
    found += problems(evalcase("check", "--format", "json", cwd=folder))
    assert len(found) == 4
    for problem in found:
        assert list(problem) == FIELDS


# GitHub


def test_github_annotations(folder: Path) -> None:
    result = evalcase("check", "--format", "github", cwd=folder)
    assert (result.code, result.err) == (2, "")
    lines = result.out.splitlines()
    assert lines[0].startswith(
        "::error file=bad.eval.yaml,line=2,endLine=2,col=10,endColumn=11,title="
    )
    assert [line.split(" ")[0] for line in lines] == ["::error", "::notice", "::warning"]
    assert "title=evalcase%3A wrong-type::" in lines[0]
    assert '%0Awrite it in quotes: "5"' in lines[0]


# SARIF


def test_sarif(folder: Path) -> None:
    result = evalcase("check", "--format", "sarif", cwd=folder)
    assert (result.code, result.err) == (2, "")
    log = json.loads(result.stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "evalcase"
    assert run["columnKind"] == "unicodeCodePoints"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == ["deprecated-name", "not-compared", "wrong-type"]
    for found in run["results"]:
        assert rules[found["ruleIndex"]] == found["ruleId"]
        assert found["level"] in ("error", "warning", "note")
    first = run["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "bad.eval.yaml"
    assert place["region"] == {"startLine": 2, "startColumn": 10, "endLine": 2, "endColumn": 11}


# Text that would steer a terminal


@pytest.mark.parametrize("format", ["text", "json", "github", "sarif"])
def test_nothing_in_a_file_reaches_the_terminal_as_a_control(tmp_path: Path, format: str) -> None:
    steering = r"\e[31m\a\x9b2J\r\n::warning::\u202e\u2066\0"
    (tmp_path / "x.yaml").write_text(
        f'- id: "{steering}"\n  input: [{{role: "{steering}", content: x}}]\n'
        f'  "{steering}": 1\n  tags: "{steering}"\n'
        f'- id: "{steering}"\n  input:\n'
        f'    {{role: user, content: [{{type: file, path: "{steering}"}}]}}\n'
        "- input: hi # \u202e\n  \u202ex: 1\n"
    )
    result = evalcase("check", "--format", format, "x.yaml", cwd=tmp_path)
    assert result.code == 2
    for char in "\x1b\x07\x9b\r\u202e\u2066\0":
        assert char not in result.out, ascii(char)
    assert "\n::warning::" not in result.out


# Frames
