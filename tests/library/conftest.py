"""Runs from Python, by either function, in a project of two cases."""

import sys
from pathlib import Path

import pytest

import evalcase
from tests.library.evaluating import Evaluate, run_async, suite
from tests.run.project import case


@pytest.fixture(params=[evalcase.evaluate, run_async], ids=["sync", "async"])
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    function: Evaluate = request.param
    return function


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # A run makes the project's modules importable; here that must end with the test.
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "evalcase.toml").write_text("")
    suite(tmp_path, case("a", "one"), case("b", "two"))
    return tmp_path
