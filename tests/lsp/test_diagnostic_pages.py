"""The package knows where it lies, and where its pages are, installed or in a clone."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalcase
from evalcase.lsp import pages
from evalcase.util import environment


def test_it_knows_its_folder_and_its_clone() -> None:
    assert Path(evalcase.__file__).parent.samefile(environment.PACKAGE)
    assert (Path(pages.CLONE) / "pyproject.toml").is_file()


def test_pages_are_looked_for_in_the_package_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PACKAGE", str(tmp_path / "installed"))
    monkeypatch.setattr(pages, "CLONE", str(tmp_path / "clone"))
    assert pages.find_pages() is None
    in_clone = tmp_path / "clone" / "docs" / "diagnostics"
    in_clone.mkdir(parents=True)
    assert pages.find_pages() == str(in_clone)
    installed = tmp_path / "installed" / "diagnostics"
    installed.mkdir(parents=True)
    assert pages.find_pages() == str(installed)
