"""The format, part 1.4: files in content. One test for each thing it says."""

from __future__ import annotations

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


def test_file_is_not_read_relative_to_the_current_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the command is started from makes no difference."""
    elsewhere = project / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("a")
    (project / "evals" / "b.txt").write_text("b")
    path = suite_with(project / "evals", "a.txt", "b.txt")
    monkeypatch.chdir(elsewhere)
    (problem,) = check(path)
    assert (problem.code, problem.line) == ("missing-file", 4)
    assert [each.line for each in check(Path("../evals/files.eval.yaml"))] == [4]


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


def test_project_root_may_be_the_folder_of_the_suite(tmp_path: Path) -> None:
    """A mark beside the suite ends the search there."""
    folder = tmp_path / "evals"
    folder.mkdir()
    (tmp_path / ".git").mkdir()
    (folder / "pyproject.toml").touch()
    (tmp_path / "a.txt").write_text("a")
    assert codes(suite_with(folder, "a.txt")) == ["missing-file"]


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


def test_file_in_a_folder_whose_name_starts_like_the_root_is_outside(project: Path) -> None:
    """`project-2` is not in `project`."""
    other = project.parent / "project-2"
    other.mkdir()
    (other / "a.txt").write_text("a")
    assert codes(suite_with(project, "../project-2/a.txt")) == ["file-outside-project"]


def test_file_must_stay_inside_after_symlinks(project: Path) -> None:
    """Neither a link to a file nor one to a folder leads out."""
    secret = outside_file(project)
    evals = project / "evals"
    (evals / "link.txt").symlink_to(secret)
    (evals / "links").symlink_to(secret.parent, target_is_directory=True)
    (evals / "twice.txt").symlink_to(evals / "link.txt")
    path = suite_with(evals, "link.txt", "links/secret.txt", "twice.txt")
    assert codes(path) == ["file-outside-project"] * 3


def test_link_that_leads_outside_is_not_passed_over_for_a_file_further_up(project: Path) -> None:
    """The nearest is meant, so another one of that name is not silently read in its place."""
    (project / "evals" / "a.txt").symlink_to(outside_file(project))
    (project / "a.txt").write_text("another")
    assert codes(suite_with(project / "evals", "a.txt")) == ["file-outside-project"]


def test_links_that_stay_inside_are_fine(project: Path) -> None:
    """A project may be laid out as it likes."""
    (project / "data").mkdir()
    (project / "data" / "a.txt").write_text("a")
    (project / "evals" / "link.txt").symlink_to("../data/a.txt")
    (project / "evals" / "links").symlink_to(project / "data")
    assert codes(suite_with(project / "evals", "link.txt", "links/a.txt")) == []


def test_link_to_nowhere_is_a_missing_file(project: Path) -> None:
    """And so is one that leads to itself."""
    (project / "evals" / "nowhere.txt").symlink_to("gone.txt")
    (project / "evals" / "loop.txt").symlink_to("loop.txt")
    path = suite_with(project / "evals", "nowhere.txt", "loop.txt")
    assert codes(path) == ["missing-file"] * 2


def test_missing_file_one_level_up_is_missing_and_not_outside(project: Path) -> None:
    """Seen from the suite the name stays inside the project: it is only that nothing is there."""
    assert codes(suite_with(project / "evals", "../gone.txt")) == ["missing-file"]


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


def test_size_cap_is_a_sane_one(project: Path) -> None:
    """A sparse file of a tebibyte is refused without being read."""
    with (project / "evals" / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    (project / "evals" / "empty.txt").touch()
    (project / "evals" / "mebibyte.txt").write_bytes(bytes(1 << 20))
    path = suite_with(project / "evals", "huge.bin", "empty.txt", "mebibyte.txt")
    assert codes(path) == ["bad-file"]


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


def test_check_points_at_the_line_in_json_and_jsonl(project: Path) -> None:
    """The other formats are no different."""
    part = '{"type": "file", "value": "gone.txt"}'
    case = f'{{"input": [{{"role": "user", "content": [{part}]}}], "expected_output": "c"}}'
    one, many = project / "a.json", project / "b.jsonl"
    one.write_text(f"[\n{case}\n]")
    many.write_text(f'{{"input": "hi", "expected_output": "c"}}\n{case}\n{case}\n')
    start = case.index('"gone.txt"') + 1
    assert [(each.code, each.span) for each in check(one)] == [
        ("missing-file", (2, start, 2, start + 10))
    ]
    assert [(each.code, each.span) for each in check(many)] == [
        ("missing-file", (2, start, 2, start + 10)),
        ("missing-file", (3, start, 3, start + 10)),
    ]


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


def test_check_looks_at_the_files_of_the_fields_beside_jsonl(project: Path) -> None:
    """They are looked for from there as well."""
    (project / "a.jsonl").write_text('{"input": "hi", "expected_output": "c"}\n')
    sidecar = project / "a.suite.yaml"
    sidecar.write_text("input: [{role: user, content: [{type: file, path: gone}]}]\n")
    (problem,) = check(project / "a.jsonl")
    assert (problem.code, problem.path, problem.line) == ("missing-file", str(sidecar), 1)


def test_file_in_an_ignored_alias_is_not_looked_for(project: Path) -> None:
    """What is ignored is ignored."""
    path = project / "a.yaml"
    path.write_text(
        "input: hi\nexpected_output: c\n"
        "input_messages: [{role: user, content: [{type: file, path: gone}]}]\n"
    )
    assert codes(path) == ["ignored-alias"]


def test_mapping_that_only_looks_like_a_file_part_is_data(project: Path) -> None:
    """Deeper in a value, elsewhere in a case, or as what is expected of an answer."""
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
    # Nobody looks for the files; but where there is nothing else, it may have been meant.
    assert codes(path) == ["odd-part"] * 3


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


def test_what_an_image_has_for_a_path_is_no_path(project: Path) -> None:
    """An address, or the picture itself."""
    path = project / "a.yaml"
    path.write_text(
        "input:\n- role: user\n"
        "  content: [{type: image, value: 'https://example.org/a.png'}, {type: image, url: gone},\n"
        "    {type: image, value: 'data:image/png;base64,AAAA'},\n"
        "    {type: image, value: iVBORw0KGgo=},\n"
        "    {type: image, data: AAAA, media_type: image/heic},\n"
        "    {type: image, value: 'HTTPS://example.org/a.png'},\n"
        "    {type: image, value: a chart, url: 'https://example.org/a.png'}]\n"
        "expected_output: c\n"
    )
    assert codes(path) == []


def test_a_file_name_of_an_image_is_one_whatever_it_looks_like(project: Path) -> None:
    """Letters of base64 are letters of file names, and a type beside them makes no picture."""
    path = project / "a.yaml"
    path.write_text(
        "input:\n- role: user\n"
        "  content: [{type: image, value: images/catty, media_type: image/png},\n"
        "    {type: image, path: '', value: gone.png}]\n"
        "expected_output: c\n"
    )
    assert codes(path) == ["missing-file", "missing-file"]


def test_address_in_the_place_of_a_path_is_told_where_to_stand(project: Path) -> None:
    """It is no file, and looks like one to nobody."""
    path = project / "a.yaml"
    path.write_text(
        'input: [{role: user, content: [{type: image, path: "https://example.org/a.png"}]}]\n'
        "expected_output: c\n"
    )
    (problem,) = check(path)
    assert (problem.code, "`url`" in (problem.hint or "")) == ("missing-file", True)


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


def test_text_given_to_loads_finds_files_from_the_current_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text has no folder of its own."""
    (project / "evals" / "a.txt").write_text("a")
    text = "input: [{role: user, content: [{type: file, path: a.txt}]}]"
    monkeypatch.chdir(project / "evals")
    assert len(evalcase.loads(text)) == 1
    assert evalcase.parse_case(text).id
    monkeypatch.chdir(project)
    with pytest.raises(SuiteError):
        evalcase.loads(text)
    with pytest.raises(SuiteError):
        evalcase.parse_case(text)
