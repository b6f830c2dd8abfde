"""Which modules there are, found out without importing any."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalcase.util.imports import find_missing_module


@pytest.fixture(autouse=True)
def only_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Projects of other tests are neither imported nor on the path."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if "pytest-of" not in path])
    for name in ("agent", "pack", "shop"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_a_module_is_looked_for_in_the_project_and_among_what_is_installed(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("1 / 0\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("1 / 0\n")
    (tmp_path / "pack" / "inner.py").write_text("1 / 0\n")
    (tmp_path / "folder").mkdir()
    root = str(tmp_path)
    for name in (
        "agent:f", "pack:f", "pack.inner:f", "folder.anything:f", "json:f", "json.nothing:f",
        "./agent.py:f", "__main__:f", "no module:f", "nosuch", "nosuch:",
    ):  # fmt: skip
        assert find_missing_module(name, root) is None
    said, hint = find_missing_module("agnet:f", root) or ("", "")
    assert (said, hint) == ("there is no module `agnet`", "did you mean `agent`?")
    said, hint = find_missing_module("pack.iner:f", root) or ("", "")
    assert (said, hint) == ("there is no module `pack.iner`", "did you mean `pack.inner`?")
    assert find_missing_module("nothing_like_it:f", root) == (
        "there is no module `nothing_like_it`",
        "the project's folder and what is installed are looked at",
    )
    assert not {"agent", "pack", "folder"} & sys.modules.keys()


def test_a_module_that_was_written_just_now_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.syspath_prepend(elsewhere)
    assert find_missing_module("quite_new:f", str(tmp_path)) is not None
    (elsewhere / "quite_new.py").write_text("")
    assert find_missing_module("quite_new:f", str(tmp_path)) is None


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in (".venv", "lib", "src"):
        (tmp_path / folder / "shop").mkdir(parents=True)
    return tmp_path


def hint(reference: str, root: Path) -> str:
    return (find_missing_module(reference, str(root)) or ("", ""))[1]


def test_a_package_in_a_folder_of_the_project_is_hinted_at(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".venv/shop/__init__.py").touch()
    assert hint("shop.agent:f", project).startswith("the pro")
    (project / "src/shop/__init__.py").touch()
    install = "src/shop is there: install it (`pip install -e .`), or set PYTHONPATH="
    assert hint("shop.agent:f", project) == f"{install}src"
    monkeypatch.chdir(project / "lib")
    assert hint("shop.agent:f", project) == f"{install}../src"


def test_a_file_in_a_folder_of_the_project_can_be_named_by_its_path(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "lib/agent.py").touch()
    (project / "src/agent.py").touch()
    by_path = "{0}/agent.py is there: name it by its path, python:./{0}/agent.py:f, or set "
    assert hint("agent:f", project) == by_path.format("lib") + "PYTHONPATH=lib"
    monkeypatch.chdir(project / "src")
    assert hint("agent:f", project) == by_path.format("src") + "PYTHONPATH=."
    assert hint("agent.part:f", project) == "src/agent.py is there: set PYTHONPATH=."
