"""What `evalcase import` writes, says and refuses; what becomes of each format is told by golden
files in tests/importing."""

import json
from pathlib import Path

import pytest

from tests.cli.command import Result, evalcase
from tests.for_each import for_each

CSV = b"id,question,answer\n1,What is 2+2?,4\n2,And 3+3?,6\n"
MAPPED = ("--map", "input=question", "--map", "expected_output=answer")
WHOLE = """\
# Imported from qa.csv (rows).

cases:
  - id: "1"
    input: What is 2+2?
    expected_output: "4"

  - id: "2"
    input: And 3+3?
    expected_output: "6"
"""


def import_in(folder: Path, *arguments: str, name: str = "qa.csv", data: bytes = CSV) -> Result:
    (folder / name).write_bytes(data)
    return evalcase("import", name, *arguments, cwd=folder)


def test_without_an_output_the_suite_goes_to_standard_output(tmp_path: Path) -> None:
    result = import_in(tmp_path, *MAPPED)
    assert (result.code, result.out) == (0, WHOLE)
    assert result.err == "2 cases from rows\n"


def test_with_an_output_it_goes_there(tmp_path: Path) -> None:
    result = import_in(tmp_path, *MAPPED, "-o", "qa.eval.yaml")
    assert (result.code, result.out) == (0, "wrote qa.eval.yaml: 2 cases from rows\n")
    assert (tmp_path / "qa.eval.yaml").read_text() == WHOLE


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "qa.eval.yaml").write_text("mine")
    result = import_in(tmp_path, *MAPPED, "-o", "qa.eval.yaml")
    assert result.code == 2
    assert result.err == "evalcase: qa.eval.yaml already exists; nothing was written\n"
    assert (tmp_path / "qa.eval.yaml").read_text() == "mine"


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    result = import_in(tmp_path, "--map", "input=question", "--dry-run", "-o", "qa.eval.yaml")
    assert result.code == 1
    line = "would write qa.eval.yaml: 2 cases from rows, 1 thing not imported\n"
    assert result.out == f"{line}2 cases have nothing to grade, and can never pass: 1, 2\n"
    assert "warning[not-imported]: left out: `answer`, which 2 rows have" in result.err
    assert not (tmp_path / "qa.eval.yaml").exists()


def test_standard_input_is_read_as_it_is_said_to_be(tmp_path: Path) -> None:
    arguments = ("import", "-", "--stdin-format", "csv", *MAPPED)
    result = evalcase(*arguments, cwd=tmp_path, stdin=CSV)
    assert result.out == WHOLE.replace("qa.csv", "standard input")


def test_columns_that_are_missing_are_listed(tmp_path: Path) -> None:
    result = import_in(tmp_path)
    assert result.code == 2
    assert "error[missing-input]: no row has the column `input`" in result.err
    hint = "the columns are id, question, answer: say " + " ".join(MAPPED)
    assert hint in result.err
    assert result.err.endswith("nothing was written\n")


@pytest.mark.parametrize("columns", ["a,b", "question,query", "the question,answer"])
def test_columns_that_could_be_anything_are_not_guessed(tmp_path: Path, columns: str) -> None:
    arguments = ("import", "-", "--stdin-format", "csv")
    result = evalcase(*arguments, cwd=tmp_path, stdin=f"{columns}\nx,y\n".encode())
    assert "say --map input=COLUMN" in result.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("input", "'input' is not FIELD=COLUMN, such as input=question."),
        ("inputs=question", "'inputs' is not a field of a case; did you mean `input`?"),
    ],
)
def test_a_map_that_makes_no_sense_is_a_mistake(tmp_path: Path, given: str, said: str) -> None:
    result = import_in(tmp_path, "--map", given)
    assert result.code == 2
    assert said in result.err


def test_a_column_that_no_row_has_is_told_with_a_suggestion(tmp_path: Path) -> None:
    result = import_in(tmp_path, "--map", "input=qestion")
    assert (result.code, "did you mean `question`?" in result.err) == (2, True)


@for_each(
    ("name", "data", "place"),
    [
        ("a.json", b'{"evals": [', "a.json:1:"),
        ("a.jsonl", b'{"input": 1}\n{"input":\n', "a.jsonl:2:"),
        ("a.csv", b'input\n"open\n', "a.csv:2:1:"),
        ("a.yaml", b"a: 1\na: 2\n", "a.yaml:2:1:"),
        ("a.yaml", b"\xff\xfe", "a.yaml:1:1:"),
        ("a.txt", b"input\n", "a.txt: error[unknown-file-type]"),
        ("a.csv", b"", "a.csv: error[no-cases]"),
        ("a.json", b'[{"input": "x"}, {"input": "x", "input": "y"}]', "a.json:1:"),
        ("a.json", b"[" * 1000 + b"]" * 1000, "a.json:1:101: error[too-deep]"),
    ],
)
def test_what_cant_be_read_has_a_place(tmp_path: Path, name: str, data: bytes, place: str) -> None:
    result = import_in(tmp_path, name=name, data=data)
    assert result.code == 2
    assert result.err.startswith(place), result.err
    assert result.err.endswith("nothing was written\n")


def test_a_file_of_which_nothing_is_left_is_no_suite(tmp_path: Path) -> None:
    result = import_in(tmp_path, "-o", "a.eval.yaml", name="a.jsonl", data=b'{"input": null}\n')
    assert result.code == 2
    assert "error[no-cases]" in result.err
    assert "empty list" not in result.err
    assert not (tmp_path / "a.eval.yaml").exists()


def test_a_pointer_of_git_lfs_is_named(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 7\n"
    result = import_in(tmp_path, name="a.jsonl", data=pointer)
    assert (result.code, "only a pointer of Git LFS" in result.err) == (2, True)
    assert "`git lfs pull`" in result.err


def test_a_printed_suite_finds_its_files_from_the_folder_of_the_source(tmp_path: Path) -> None:
    folder = tmp_path / "skill" / "evals"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (folder / "data.csv").write_text("a\n")
    (folder / "evals.json").write_text('{"evals": [{"prompt": "Read it", "files": ["data.csv"]}]}')
    result = evalcase("import", "skill/evals/evals.json", cwd=tmp_path)
    assert (result.code, "path: data.csv" in result.out) == (0, True), result


def test_check_names_the_command_that_imports_a_file(tmp_path: Path) -> None:
    (tmp_path / "my evals.json").write_text('{"skill_name": "x", "evals": [{"prompt": "hi"}]}')
    result = evalcase("check", "my evals.json", cwd=tmp_path)
    assert result.code == 2
    command = "evalcase import 'my evals.json' --from skills -o 'my evals.imported.eval.yaml'"
    assert command in result.out


def test_what_is_left_out_is_in_the_suite_whole(tmp_path: Path) -> None:
    code = "return " + " + ".join(f"step{number}" for number in range(100))
    config = {"prompts": ["hi"], "tests": [{"assert": [{"type": "javascript", "value": code}]}]}
    result = import_in(tmp_path, name="promptfooconfig.json", data=json.dumps(config).encode())
    assert f'#     "value": "{code}"' in result.out
