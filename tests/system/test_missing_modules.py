"""Which modules there are, found out without importing any."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalcase.system.missing_modules import find_missing_module


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


@pytest.mark.parametrize(("file", "there"), [("shop/__init__.py", "shop"), ("shop.py", "shop.py")])
def test_a_module_in_a_folder_of_the_project_is_hinted_at(
    tmp_path: Path, file: str, there: str
) -> None:
    for folder in (".venv", "lib", "src"):
        (tmp_path / folder / file).parent.mkdir(parents=True)
    (tmp_path / ".venv" / file).touch()
    assert (find_missing_module("shop.agent:f", str(tmp_path)) or ("", ""))[1].startswith("the pro")
    (tmp_path / "src" / file).touch()
    assert find_missing_module("shop.agent:f", str(tmp_path)) == (
        "there is no module `shop`",
        f"src/{there} is there: install it (`pip install -e .`), or set PYTHONPATH=src",
    )
