import json
import os
import re
import signal
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.cli.command import EVALCASE, LIMIT_S, environment, evalcase
from tests.cli.pseudo_terminal import CTRL_C, PseudoTerminal
from tests.for_each import for_each

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


# --fix


BROKEN = "input: q # keep me\nexpected_output: x\nskip: no\n"
MENDED = "input: q # keep me\nexpected_output: x\nskip: false\n"


def test_what_was_changed_is_shown_and_the_exit_code_is_that_of_what_is_left(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.eval.yaml"
    path.write_text(BROKEN)
    done = evalcase("check", "--fix", cwd=tmp_path)
    assert (done.code, done.err, path.read_text()) == (0, "", MENDED)
    assert done.out == (
        "a.eval.yaml:3:7: no → false\na.eval.yaml: 1 mistake fixed\n\n"
        "no problems found: 1 case in 1 file\n"
    )
    again = evalcase("check", "--fix", cwd=tmp_path)
    assert (again.code, again.out) == (0, "no problems found: 1 case in 1 file\n")


def test_output_for_programs_is_of_what_is_left_only(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(BROKEN + "nonsense: 1\n")
    done = evalcase("check", "--fix", "--format", "json", cwd=tmp_path)
    assert [each["code"] for each in json.loads(done.out)] == ["unknown-field"]
    assert "no → false" in done.err


def test_a_link_out_of_the_project_is_not_written_through(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside.eval.yaml", tmp_path / "project"
    outside.write_text(BROKEN)
    project.mkdir()
    (project / "evalcase.toml").touch()
    (project / "a.eval.yaml").symlink_to(outside)
    for paths in ([], ["a.eval.yaml"]):
        done = evalcase("check", "--fix", *paths, cwd=project)
        assert done.code == 2
        assert "mended" not in done.out
    assert outside.read_text() == BROKEN


def test_standard_input_is_no_file(tmp_path: Path) -> None:
    done = evalcase("check", "--fix", "-", cwd=tmp_path, stdin=BROKEN.encode())
    assert (done.code, done.out) == (2, "")
    assert "--fix needs files" in done.err


def test_a_file_that_can_not_be_written_is_told_and_still_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.eval.yaml"
    path.write_text(BROKEN)
    os.link(path, tmp_path / "other")
    done = evalcase("check", "--fix", cwd=tmp_path)
    assert (done.code, path.read_text()) == (2, BROKEN)
    assert "a.eval.yaml: can't be written: it has several names" in done.out
    assert "error[bad-value]" in done.out


# --watch: changes are waited for by what it writes, never by the clock


CORRECT = "- {id: a, input: hi, expected_output: x}\n"
WRONG = "- {id: a, input: 5, expected_output: x}\n"
WAITING = "waiting for changes; press Ctrl-C to stop\n"


def put(path: Path, text: str) -> None:
    """Write a file at once, as editors do: nobody sees a half of it."""
    whole = path.parent.parent / "whole"
    whole.write_text(text)
    whole.replace(path)


class Watching:
    """The command with its output in a pipe."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*EVALCASE, "check", "--watch", *arguments], cwd=folder, env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def next_check(self) -> str:
        """All that it writes until it waits."""
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line == WAITING:
                return "".join(lines)
        raise AssertionError("".join(lines))

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=LIMIT_S)
        assert rest == "\n"
        return self.process.returncode


def test_it_checks_again_after_a_change_and_ends_with_the_code_of_the_last(tmp_path: Path) -> None:
    suite = tmp_path / "a.eval.yaml"
    suite.write_text(CORRECT)
    watching = Watching(tmp_path)
    assert watching.next_check() == f"no problems found: 1 case in 1 file\n\n{WAITING}"
    put(suite, WRONG)
    second = watching.next_check()
    assert second.startswith("\nchanged: a.eval.yaml\n\na.eval.yaml:1:18: error[wrong-type]")
    assert second.endswith(f"1 error in 1 file\n\n{WAITING}")
    assert watching.interrupt() == 2


def test_what_a_suite_rests_on_is_watched_too(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    content = "[{role: user, content: [{type: file, path: a.md}]}]"
    suite = tmp_path / "evals" / "a.eval.yaml"
    suite.write_text(f"- {{id: a, target: bot, input: {content}, expected_output: x}}\n")
    (tmp_path / "evalcase.toml").write_text("")
    watching = Watching(tmp_path, "evals/a.eval.yaml")
    assert "2 errors in 1 file" in watching.next_check()
    (tmp_path / "evals" / "a.md").write_text("")
    assert "1 error in 1 file" in watching.next_check()
    put(tmp_path / "evalcase.toml", '[targets.bot]\nkind = "echo"\n')
    assert "changed: evalcase.toml\n\nno problems found" in watching.next_check()
    assert watching.interrupt() == 0


def test_on_a_terminal_the_screen_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(WRONG)
    terminal = PseudoTerminal(tmp_path, "check", "--watch")
    terminal.await_text("waiting for changes")
    put(tmp_path / "a.eval.yaml", CORRECT)
    terminal.await_text(
        r"\x1b\[2J.*changed: a.eval.yaml(.|\r|\n)*no problems found(.|\r|\n)*waiting"
    )
    terminal.type(CTRL_C)
    assert terminal.finish() == 0


@for_each(
    ("arguments", "words"),
    [
        (["--fix"], "--watch can't be combined with --fix"),
        (["--format", "json"], "only writes text"),
        (["-"], "needs files, not standard input"),
    ],
)
def test_what_makes_no_sense_beside_it_is_refused(arguments: list[str], words: str) -> None:
    result = evalcase("check", "--watch", *arguments)
    assert result.code == 2
    assert words in result.err
