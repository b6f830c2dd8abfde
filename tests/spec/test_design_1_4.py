"""The format, part 1.4: files in content. One test for each thing it says."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import evalcase
from evalcase import Problem, SuiteError
from evalcase.util import project as project_files

MARKS = ["evalcase.toml", "pyproject.toml", ".git"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The root of a project, with a folder of evals two levels below it."""
    root = tmp_path / "project"
    (root / "evals" / "deep").mkdir(parents=True)
    (root / "evalcase.toml").touch()
    return root


def suite_with(folder: Path, *names: str, key: str = "path") -> Path:
    """A suite with a case for each file name: the name stands on line 4, 9, 14, …"""
    path = folder / "files.eval.yaml"
    cases = [
        f"- input:\n  - role: user\n    content:\n    - {{type: file, {key}: {json.dumps(name)}}}"
        for name in names
    ]
    path.write_text("\n  expected_output: x\n".join([*cases, ""]))
    return path


def check(path: Path) -> list[Problem]:
    return evalcase.check([path])


def codes(path: Path) -> list[str]:
    return [problem.code for problem in check(path)]


# Where a file is looked for.


@pytest.mark.parametrize("key", ["path", "value"])
def test_file_is_read_relative_to_the_folder_of_the_suite(project: Path, key: str) -> None:
    """By either key; below the folder as well."""
    folder = project / "evals"
    (folder / "deep" / "a.txt").write_text("a")
    assert codes(suite_with(folder, "deep/a.txt", "./deep/../deep/a.txt", key=key)) == []
    assert codes(suite_with(folder, "a.txt", key=key)) == ["missing-file"]


def test_file_is_then_read_relative_to_each_parent_up_to_the_project_root(project: Path) -> None:
    """The folder between, and the root itself."""
    (project / "evals" / "between.txt").write_text("a")
    (project / "root.txt").write_text("a")
    assert codes(suite_with(project / "evals" / "deep", "between.txt", "root.txt")) == []


def test_file_is_not_looked_for_above_the_project_root(project: Path) -> None:
    """What lies there is not part of the project."""
    (project.parent / "above.txt").write_text("a")
    assert codes(suite_with(project / "evals", "above.txt")) == ["missing-file"]


def test_nearest_file_is_the_one_that_counts(project: Path) -> None:
    """A folder near the suite is no file, though there is one further up."""
    (project / "evals" / "a.txt").mkdir()
    (project / "a.txt").write_text("a")
    assert codes(suite_with(project / "evals", "a.txt")) == ["bad-file"]


@pytest.mark.parametrize("mark", MARKS)
def test_project_root_is_the_nearest_folder_with_a_project_file(tmp_path: Path, mark: str) -> None:
    """Any of the three marks it; a mark further up doesn't count."""
    folder = tmp_path / "outer" / "inner" / "evals"
    folder.mkdir(parents=True)
    (tmp_path / "outer" / ".git").mkdir()
    (tmp_path / "outer" / "a.txt").write_text("a")
    (tmp_path / "outer" / "inner" / "b.txt").write_text("b")
    path = suite_with(folder, "a.txt", "b.txt")
    assert check(path) == []
    (tmp_path / "outer" / "inner" / mark).touch()
    (problem,) = check(path)
    assert (problem.code, problem.line) == ("missing-file", 4)


def test_without_a_project_file_the_root_is_the_folder_of_the_suite(tmp_path: Path) -> None:
    """Then nothing outside of that folder is read."""
    folder = tmp_path / "evals"
    (folder / "below").mkdir(parents=True)
    (tmp_path / "a.txt").write_text("a")
    (folder / "below" / "b.txt").write_text("b")
    path = suite_with(folder, "a.txt", "below/b.txt", "../a.txt")
    assert codes(path) == ["missing-file", "file-outside-project"]


# What it must be.


def outside_file(project: Path) -> Path:
    path = project.parent / "secret.txt"
    path.write_text("secret")
    return path


def test_file_must_stay_inside_the_project_root(project: Path) -> None:
    """No `..` and no absolute name leads out of it."""
    secret = outside_file(project)
    path = suite_with(project / "evals", "../../secret.txt", str(secret), "/etc/passwd")
    assert codes(path) == ["file-outside-project"] * 3


def test_file_may_be_reached_by_any_name_that_stays_inside(project: Path) -> None:
    """It is the place that counts, not the spelling."""
    (project / "a.txt").write_text("a")
    path = suite_with(project / "evals", "../a.txt", str(project / "a.txt"))
    assert codes(path) == []


def test_file_must_stay_inside_after_symlinks(project: Path) -> None:
    """Neither a link to a file nor one to a folder leads out."""
    secret = outside_file(project)
    evals = project / "evals"
    (evals / "link.txt").symlink_to(secret)
    (evals / "links").symlink_to(secret.parent, target_is_directory=True)
    (evals / "twice.txt").symlink_to(evals / "link.txt")
    path = suite_with(evals, "link.txt", "links/secret.txt", "twice.txt")
    assert codes(path) == ["file-outside-project"] * 3


def test_file_must_be_a_regular_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders, pipes and sockets are none, and no pipe is waited for."""
    evals = project / "evals"
    os.mkfifo(evals / "pipe")
    monkeypatch.chdir(evals)  # the address of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    assert codes(suite_with(evals, "deep", ".", "pipe", "socket")) == ["bad-file"] * 4


def test_file_must_be_under_a_size_cap(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file up to the cap is fine, one more byte is not."""
    monkeypatch.setattr(project_files, "MAX_ATTACHED_BYTES", 1000)
    (project / "evals" / "fits.txt").write_bytes(b"x" * 1000)
    (project / "evals" / "over.txt").write_bytes(b"x" * 1001)
    (problem,) = check(suite_with(project / "evals", "fits.txt", "over.txt"))
    assert (problem.code, problem.line) == ("bad-file", 9)
    assert "over.txt" in problem.message


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "a/" * 3000, "missing/../../../x/../\0"])
def test_file_name_that_no_file_can_have_is_an_error_and_no_crash(project: Path, name: str) -> None:
    """The system refuses it; the check says so."""
    assert codes(suite_with(project / "evals", name)) in (
        ["missing-file"],
        ["file-outside-project"],
    )


# How `check` tells.


def test_check_points_at_the_line_of_the_name(project: Path) -> None:
    """At the value, in each case that has one."""
    path = suite_with(project / "evals", "gone.txt", "gone/too.txt")
    found = [(each.code, each.severity, each.span) for each in check(path)]
    assert found == [
        ("missing-file", "error", (4, 26, 4, 36)),
        ("missing-file", "error", (9, 26, 9, 40)),
    ]
    for problem in check(path):
        assert "gone" in problem.message
        assert problem.case


def test_check_looks_at_the_files_of_expected_output_and_of_the_suite(project: Path) -> None:
    """Wherever there is content."""
    path = project / "a.yaml"
    path.write_text(
        "input: [{role: system, content: [{type: file, path: gone-1}]}]\n"
        "cases:\n"
        "- input: hi\n"
        "  expected_output: {role: assistant, content: [{type: file, path: gone-2}]}\n"
        "- input: ho\n"
        "  expected_output: [{type: file, path: gone-3}]\n"
    )
    missing = [each.line for each in check(path) if each.code == "missing-file"]
    assert missing == [1, 4, 6]


def test_mapping_that_only_looks_like_a_file_part_is_data(project: Path) -> None:
    """Deeper in a value, elsewhere in a case, or as what is expected of an answer: nobody looks
    for the files."""
    path = project / "a.yaml"
    path.write_text(
        "- input: {a: {type: file, path: gone}}\n"
        "  expected_output: {a: [{type: file, path: gone}]}\n"
        "- {input: {type: folder, path: gone}, expected_output: {type: file, path: gone}}\n"
        "- {input: {type: file, path: [gone]}, expected_output: c,\n"
        "   metadata: {type: file, path: gone}}\n"
        "- input: {type: file, value: gone}\n"
        "  expected_output: {role: assistant, content: {type: image, path: gone}}\n"
    )
    assert codes(path) == []


@pytest.mark.parametrize("kind", ["file", "image"])
def test_file_that_is_all_of_the_content_needs_no_list_around_it(project: Path, kind: str) -> None:
    """Written as the content of a message, or in short."""
    path = project / "a.yaml"
    path.write_text(
        f"- input: [{{role: user, content: {{type: {kind}, path: gone-1}}}}]\n"
        "  expected_output: c\n"
        f"- input: {{role: user, content: {{type: {kind}, path: here}}}}\n  expected_output: c\n"
        f"- input: {{type: {kind}, path: gone-2}}\n  expected_output: c\n"
    )
    (project / "here").touch()
    assert [(each.code, each.line) for each in check(path)] == [
        ("missing-file", 1),
        ("missing-file", 5),
    ]


@pytest.mark.parametrize("key", ["path", "value"])
@pytest.mark.parametrize("name", ["gone.png", "../../out.png", "pipe", "link.png", "/dev/zero"])
def test_path_of_an_image_is_held_to_the_same_rules(project: Path, name: str, key: str) -> None:
    """The same problem at the same place as for a file of that name."""
    evals = project / "evals"
    os.mkfifo(evals / "pipe")
    (project.parent / "out.png").touch()
    (evals / "link.png").symlink_to(project.parent / "out.png")
    found = []
    for kind in ("file ", "image"):
        path = evals / "a.yaml"
        part = f"{{type: {kind}, {key}: {name}}}"
        path.write_text(f"input: [{{role: user, content: [{part}]}}]\nexpected_output: c\n")
        found.append([(each.code, each.message, each.hint, each.span) for each in check(path)])
    assert len(found[0]) == 1
    assert found[0] == found[1]


def test_missing_file_makes_the_suite_invalid(project: Path) -> None:
    """The library raises, as for any error."""
    path = suite_with(project / "evals", "gone.txt")
    with pytest.raises(SuiteError) as error:
        evalcase.load(path)
    assert [problem.code for problem in error.value.problems] == ["missing-file"]


def test_missing_file_makes_the_command_fail_with_2_and_tell_the_line(project: Path) -> None:
    """As a user sees it."""
    path = suite_with(project / "evals", "gone.txt")
    command = [sys.executable, "-m", "evalcase", "check", str(path)]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 2
    assert f"{path}:4:26: error[missing-file]" in done.stdout
    assert done.stderr == ""
