"""Input that was made to break a reader, or that a careless editor made.

The answer is an error with its place, or exactly the data. What could crash a process, or fill the
memory, is read by the command in one of its own; so is one file of every other kind.
"""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import evalcase
from evalcase.errors import SuiteError
from tests.cli.command import check, unprivileged
from tests.cli.command import evalcase as run
from tests.for_each import for_each
from tests.format.hostile import (
    BAD_BYTES,
    CASE,
    INTEGERS,
    LINE_SEPARATORS,
    RECURSIVE,
    TOO_DEEP,
    YAML_CONTROLS,
    data_of,
    write,
)


@for_each(
    ("style", "value"),
    [
        ("|\n      x", "x"),
        ("|\n      x\n", "x\n"),
        ("|\n      x ", "x "),
        ("|\n      x\t", "x\t"),
        ("|\n      x\n      y ", "x\ny "),
        ("|\n      x\n       ", "x\n \n"),
        ("|\n      x\n   ", "x\n"),
        ("|-\n      x \n      ", "x "),
        ("|+\n      x\n      ", "x\n\n"),
        ("|+\n      ", "\n"),
        (">\n      x\n      y ", "x y "),
    ],
)
def test_a_block_scalar_at_the_end_without_a_line_end(
    tmp_path: Path, style: str, value: str
) -> None:
    assert data_of(tmp_path, "x.yaml", CASE + style) == value


def test_the_command_reads_one_of_every_kind(tmp_path: Path) -> None:
    kinds: dict[str, str | bytes] = {
        **{f"deep {name}.yaml": text for name, (text, _, _) in TOO_DEEP.items()},
        **{f"recursive {name}.yaml": text for name, (text, _, _) in RECURSIVE.items()},
        **{f"bytes {name}.json": data for name, (data, _) in BAD_BYTES.items()},
        **{f"control {ord(char)}.yaml": f"a: {char}" for char in YAML_CONTROLS},
        **{f"separator {ord(char)}.yaml": f"- {char}: 5" for char in LINE_SEPARATORS},
        **{f"integer {name}.yaml": CASE + text for name, (_, text) in INTEGERS.items()},
        "undefined.yaml": "*a",
        "tag.yaml": "!!python/object:os.system x",
        "surrogate.json": '"\\ud800"',
        "utf-16.jsonl": "{}".encode("utf-16"),
        "empty.yaml": "",
        "empty.json": "",
        "empty.jsonl": "",
        "documents.yaml": "a\n---\nb",
    }
    for name, data in kinds.items():
        write(tmp_path, name, data)
    result = run("check", *kinds, cwd=tmp_path)
    assert (result.code, result.stderr) == (2, b"")
    for name in kinds:
        assert f"\n{name}:" in f"\n{result.out}", name


GOOD = "- input: hi\n  expected_output: x\n"


def unreadable(path: Path) -> None:
    ((code, place),) = [(p["code"], p["path"]) for p in check(path)]
    assert (code, place) == ("unreadable-file", str(path))


@pytest.fixture
def special(tmp_path: Path) -> Iterator[Path]:
    """A folder with one of each: a pipe nobody writes to, a socket, links to nowhere."""
    (tmp_path / "target").write_text(GOOD)
    (tmp_path / "link.yaml").symlink_to("target")
    (tmp_path / "dangling.yaml").symlink_to("nowhere")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "null.jsonl").symlink_to("/dev/null")
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link-to-pipe.yaml").symlink_to("pipe.yaml")
    here = Path.cwd()
    os.chdir(tmp_path)  # the address of a socket may be no longer than about 100 bytes
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket.yaml")
            yield tmp_path
    finally:
        os.chdir(here)


@pytest.mark.parametrize(
    "name",
    "dangling.yaml loop.yaml zero.yaml null.jsonl pipe.yaml pipe.jsonl link-to-pipe.yaml "
    "socket.yaml missing.yaml".split(),
)
def test_what_is_no_regular_file_is_refused_at_once(special: Path, name: str) -> None:
    unreadable(special / name)


def test_a_search_meets_special_files_and_goes_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.eval.yaml")
    (tmp_path / "b.eval.yaml").symlink_to("/dev/zero")
    (tmp_path / "c.eval.yaml").symlink_to("nowhere")
    (tmp_path / "d.eval.yaml").write_text("- input: 5\n")
    (tmp_path / "up").symlink_to("..")
    found = [(Path(p["path"]).name, p["code"]) for p in check(tmp_path)]
    assert found == [
        ("a.eval.yaml", "unreadable-file"),
        ("b.eval.yaml", "unreadable-file"),
        ("c.eval.yaml", "unreadable-file"),
        ("d.eval.yaml", "wrong-type"),
    ]


def test_a_pipe_beside_a_jsonl_file(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", '{"input": "hi", "expected_output": "x"}')
    os.mkfifo(tmp_path / "x.suite.yaml")
    ((code, place),) = [(p["code"], p["path"]) for p in check(path)]
    assert (code, Path(place).name) == ("unreadable-file", "x.suite.yaml")


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write(tmp_path, "x.yaml", GOOD)
    path.chmod(0)
    result = unprivileged("check", path)
    assert (result.code, result.stderr) == (2, b"")
    assert "x.yaml: error[unreadable-file]: the file can't be read: Permission denied" in result.out


def test_a_folder_that_may_not_be_read_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "x.eval.yaml", GOOD)
    hidden = tmp_path / "evals"
    hidden.mkdir()
    write(hidden, "y.eval.yaml", "- input: 5")
    hidden.chmod(0)
    try:
        result = unprivileged("check", tmp_path)
    finally:
        hidden.chmod(0o700)
    assert result.code == 2
    assert "evals" in result.out


@for_each("name", ["a\0b.yaml", "x" * 5_000 + ".yaml", "x/" * 3_000 + "a.yaml"])
def test_paths_that_can_be_no_file(name: str) -> None:
    with pytest.raises(SuiteError) as raised:
        evalcase.load(name)
    assert [problem.code for problem in raised.value.problems] == ["unreadable-file"]
    assert [problem.code for problem in evalcase.check([name])] == ["unreadable-file"]


def test_nothing_of_a_file_outside_the_project_is_shown(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "evalcase.toml").touch()
    (tmp_path / "secret").write_text("password: hunter2: 3\n")
    (project / "a.eval.yaml").symlink_to("../secret")
    write(project, "b.eval.jsonl", '{"input": "hi", "expected_output": "x"}')
    (project / "b.suite.yaml").symlink_to("../secret")
    problems = check(project)
    assert [Path(problem["path"]).name for problem in problems] == ["a.eval.yaml", "b.suite.yaml"]
    assert {problem["code"] for problem in problems} == {"unreadable-file"}
    assert "hunter2" not in json.dumps(problems)
    result = run("migrate", project)
    assert (result.code, "hunter2" in result.out + result.err) == (2, False)
    assert (tmp_path / "secret").read_text() == "password: hunter2: 3\n"
