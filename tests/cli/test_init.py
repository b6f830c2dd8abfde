import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.command import evalcase, unprivileged

FILES = [".gitignore", "agent.py", "evalcase.toml", "evals/first.eval.yaml"]


def files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def test_a_fresh_folder_gets_a_starter_and_is_told_what_to_do_next(tmp_path: Path) -> None:
    result = evalcase("init", cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert files(tmp_path) == FILES
    assert "evalcase run" in result.out
    assert all(f"wrote {name}\n" in result.out for name in FILES)


def test_the_starter_is_free_of_problems_and_passes_at_once(tmp_path: Path) -> None:
    evalcase("init", cwd=tmp_path)
    assert evalcase("check", "--strict", cwd=tmp_path).code == 0
    result = evalcase("run", "--json", cwd=tmp_path)
    summary = json.loads(result.out)
    assert (result.code, result.err) == (0, "")
    assert (summary["total"], summary["passed"]) == (4, 4)


@pytest.mark.parametrize("name", [name for name in FILES if name != ".gitignore"])
def test_a_file_that_exists_is_named_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    result = evalcase("init", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert f"{name} already exists" in result.err
    assert "`evalcase init FOLDER` makes a new folder" in result.err
    assert files(tmp_path) == [name]
    assert path.read_text() == "mine"


@pytest.mark.parametrize("folder", [".", "shop"])
def test_settings_elsewhere_are_in_the_way_since_two_files_can_not_have_them(
    tmp_path: Path, folder: str
) -> None:
    project = tmp_path / folder
    project.mkdir(exist_ok=True)
    (project / "pyproject.toml").write_text("[project]\ndependencies = ['evalcase']\n")
    assert evalcase("init", folder, cwd=tmp_path).code == 0
    for path in project.glob("*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (project / "pyproject.toml").write_text("[tool.evalcase]\nretries = 1\n")
    result = evalcase("init", folder, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    name = os.path.normpath(f"{folder}/pyproject.toml")
    assert result.err.startswith(f"evalcase: {name} already has settings for evalcase\n")
    assert result.err.splitlines()[1].startswith("nothing was written")


def test_a_folder_that_can_not_be_written_is_said_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    result = unprivileged("init", cwd=tmp_path)
    tmp_path.chmod(0o700)
    assert result.code == 2
    assert "can't be written: Permission denied" in result.err


def test_a_gitignore_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    ignored = tmp_path / ".gitignore"
    ignored.write_text("*.pyc\n")
    result = evalcase("init", cwd=tmp_path)
    assert (result.code, ignored.read_text()) == (0, "*.pyc\n")
    assert "left .gitignore as it is: add .evalcase/ to it" in result.out


def test_the_records_of_runs_are_ignored(tmp_path: Path) -> None:
    evalcase("init", cwd=tmp_path)
    assert "\n.evalcase/\n" in (tmp_path / ".gitignore").read_text()
