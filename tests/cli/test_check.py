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


def test_errors_are_counted_by_the_files_that_they_are_in(tmp_path: Path) -> None:
    fine, config = tmp_path / "a.eval.yaml", tmp_path / "evalcase.toml"
    fine.write_text("- {input: hi, expected_output: hi}\n")
    (tmp_path / "b.eval.yaml").write_text("- {input: hi, expected_output: hi}\n")
    for text, last in (
        ("", "no problems found: 2 cases in 2 files"),
        ("[targets.a]\nkind = 'command'\ncommand = ['no-such-program']\n", "2 cases in 2 files"),
        ("x = 1\n", "1 error in 1 file"),
    ):
        config.write_text(text)
        assert evalcase("check", cwd=tmp_path).out.rstrip().endswith(last)


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        (
            "- {id: a, input: x, graders: [{python: {value: 'asked:grade', arguments: {z: }}}]}",
            "s.eval.yaml:1:48: error[bad-grader]: `grade` has no parameter `z`, which",
        ),
        (
            "- {id: a, input: hi, graders: ['python:asked:odd']}",
            "s.eval.yaml:1:32: error[bad-grader]: `odd` has a parameter `q`; a grader can be",
        ),
        (
            "- {id: a, input: hi, expected_output: x, target: 'python:asked:two'}",
            "s.eval.yaml:1:50: error[bad-target]: python target `asked:two`: it can't be",
        ),
    ],
)
def test_a_function_that_run_would_refuse_is_told_as_run_tells_it(
    tmp_path: Path, suite: str, said: str
) -> None:
    (tmp_path / "evalcase.toml").write_text('target = "echo"')
    (tmp_path / "asked.py").write_text(
        "def grade(answer): ...\ndef odd(q): ...\ndef two(a, b): ...\n"
    )
    (tmp_path / "s.eval.yaml").write_text(suite + "\n")
    checked, run = (evalcase(verb, "s.eval.yaml", cwd=tmp_path) for verb in ("check", "run"))
    assert (checked.code, run.code) == (2, 2)
    first = (checked.out + checked.err).splitlines()[0]
    assert first.startswith(said)
    assert first in (run.out + run.err).splitlines()


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


def test_warnings_and_notes_are_no_failure(folder: Path) -> None:
    result = evalcase("check", "old.eval.yaml", "noted.eval.yaml", cwd=folder)
    assert (result.code, result.err) == (0, "")
    assert "old.eval.yaml:1:3: warning[deprecated-name]" in result.out
    assert "note[not-compared]" in result.out
    assert result.out.endswith("no errors, 1 warning, 1 note: 2 cases in 2 files\n")


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


def test_several_files_in_the_order_they_are_named(folder: Path) -> None:
    names = ["old.eval.yaml", "bad.eval.yaml", "noted.eval.yaml"]
    result = evalcase("check", "--format", "json", *names, cwd=folder)
    assert [problem["path"] for problem in json.loads(result.stdout)] == names


def test_one_bad_file_does_not_hide_the_next(folder: Path) -> None:
    (folder / "a.eval.yaml").write_text("[")
    (folder / "b.eval.yaml").write_bytes(b"\xff")
    (folder / "x.txt").touch()
    names = ["a.eval.yaml", "b.eval.yaml", "missing.yaml", "x.txt", "bad.eval.yaml"]
    result = evalcase("check", "--format", "json", *names, cwd=folder)
    assert [problem["code"] for problem in json.loads(result.stdout)] == [
        "syntax", "bad-encoding", "unreadable-file", "unknown-file-type", "wrong-type",
    ]  # fmt: skip
    assert (result.code, result.err) == (2, "")


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


def test_an_empty_current_folder(tmp_path: Path) -> None:
    result = evalcase("check", cwd=tmp_path)
    assert result.code == 2
    assert "error[no-suites]" in result.out


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


def test_standard_input_is_yaml_unless_said(tmp_path: Path) -> None:
    assert evalcase("check", "-", stdin=GOOD.encode(), cwd=tmp_path).code == 0
    assert evalcase("check", "-", stdin=b"", cwd=tmp_path).code == 2
    assert evalcase("check", "-", stdin=b"\xff", cwd=tmp_path).code == 2


def test_standard_input_among_files(folder: Path) -> None:
    result = evalcase("check", "good.eval.yaml", "-", "-", stdin=GOOD.encode(), cwd=folder)
    assert result.out == "no problems found: 2 cases in 2 files\n"


def test_standard_input_finds_files_in_the_current_folder(tmp_path: Path) -> None:
    text = b"- {input: {role: user, content: [{type: file, path: here.txt}]}, criteria: x}\n"
    assert evalcase("check", "-", stdin=text, cwd=tmp_path).code == 2
    (tmp_path / "here.txt").touch()
    assert evalcase("check", "-", stdin=text, cwd=tmp_path).code == 0


def test_the_same_id_twice_on_standard_input() -> None:
    line = b'{"id": "a", "input": "hi", "expected_output": "x"}\n'
    result = evalcase("check", "-", "--stdin-format", "jsonl", stdin=line * 2)
    assert result.code == 2
    assert "-:2:8: error[duplicate-id]" in result.out
    assert "the first is at line 1" in result.out


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


def test_json_of_a_problem(folder: Path) -> None:
    (folder / "x.yaml").write_text(
        "- id: a\n  input: hi\n  expcted_output: x\n  graders: [expected]\n"
    )
    (problem,) = problems(evalcase("check", "--format", "json", "x.yaml", cwd=folder))
    assert problem == {
        "code": "unknown-field",
        "severity": "error",
        "message": "`expcted_output` is not a field of a case",
        "hint": "did you mean `expected_output`?",
        "path": "x.yaml",
        "line": 3,
        "column": 3,
        "end_line": 3,
        "end_column": 17,
        "case": "a",
    }


def test_json_of_a_problem_without_a_place(folder: Path) -> None:
    (problem,) = problems(evalcase("check", "--format", "json", "x.txt", cwd=folder))
    assert [problem[key] for key in FIELDS[5:]] == [None] * 5


def test_json_of_nothing_is_an_empty_list(folder: Path) -> None:
    result = evalcase("check", "--format", "json", "good.eval.yaml", cwd=folder)
    assert result == (0, b"[]\n", b"")


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


def test_github_escapes_what_would_end_a_command(tmp_path: Path) -> None:
    name = "a,b:c%d\n::set-output.yaml"
    (tmp_path / name).write_text('- input: hi\n  "x%0A\\n::error::y": 1\n')
    result = evalcase("check", "--format", "github", name, cwd=tmp_path)
    assert result.code == 2
    assert result.out.count("\n") == result.out.count("::error ") >= 1
    assert "file=a%2Cb%3Ac%25d%0A%3A%3Aset-output.yaml,line=" in result.out
    assert "x%250A" in result.out
    assert "\n::error::y" not in result.out


def test_github_of_nothing_is_nothing(folder: Path) -> None:
    assert evalcase("check", "--format", "github", "good.eval.yaml", cwd=folder).stdout == b""


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


def test_sarif_of_nothing_has_no_results(folder: Path) -> None:
    log = json.loads(evalcase("check", "--format", "sarif", "good.eval.yaml", cwd=folder).stdout)
    assert log["runs"][0]["results"] == []


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


def test_a_name_that_would_steer_a_terminal(tmp_path: Path) -> None:
    name = "\x1b[31mred.eval.yaml"
    (tmp_path / name).write_text(BAD)
    for format in ("text", "json", "github", "sarif"):
        result = evalcase("check", "--format", format, cwd=tmp_path)
        assert result.code == 2
        assert "\x1b" not in result.out


# Frames


def test_the_frame_fits_wide_characters_and_tabs(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text('- {id: "日本\t😀", input: 5}\n')
    lines = evalcase("check", "x.yaml", cwd=tmp_path).out.splitlines()
    assert lines[0].startswith("x.yaml:1:23:")
    # Two cells for each wide character; a tab to the next multiple of four.
    assert lines[1].startswith('  1 | - {id: "日本')
    before = lines[1][: lines[1].index("5}")]
    assert len(before) + sum(before.count(char) for char in "日本😀") == lines[2].index("^")


def test_a_problem_over_several_lines_shows_the_first(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("- input:\n  - {role: user}\n")
    lines = evalcase("check", "x.yaml", cwd=tmp_path).out.splitlines()
    assert lines[1:3] == ["  2 |   - {role: user}", "    |     ^^^^^^^^^^^^"]
