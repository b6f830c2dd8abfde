"""The package knows where it lies, and where its pages are, installed or in a clone."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalcase
from evalcase.system import package


def test_it_knows_its_folder_and_its_clone() -> None:
    assert Path(evalcase.__file__).parent.samefile(package.PACKAGE)
    assert (Path(package.CLONE) / "pyproject.toml").is_file()


def test_pages_are_looked_for_in_the_package_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "PACKAGE", str(tmp_path / "installed"))
    monkeypatch.setattr(package, "CLONE", str(tmp_path / "clone"))
    assert package.find_pages() is None
    in_clone = tmp_path / "clone" / "docs" / "diagnostics"
    in_clone.mkdir(parents=True)
    assert package.find_pages() == str(in_clone)
    installed = tmp_path / "installed" / "diagnostics"
    installed.mkdir(parents=True)
    assert package.find_pages() == str(installed)
