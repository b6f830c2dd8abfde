from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalcase.util.sources import program_sources

FILES = (
    "evals/agent.py", "evals/conf.txt", "tools/run.py", "evals/pkg/__init__.py",
    "evals/pkg/__main__.py", "lib/far/__main__.py", "lib/near.py",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write(root, *FILES, text="x")
    (tmp_path / "outside.txt").write_text("x")
    return root


def write(root: Path, *names: str, text: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def sources(root: Path, text: str, path: str = "") -> dict[str, str]:
    return program_sources([text], str(root / "evals"), str(root), path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("agent.py", {"evals/agent.py"}),
        ("python agent.py;true", {"evals/agent.py"}),
        ("python ../tools/run.py --conf=conf.txt", {"tools/run.py", "evals/conf.txt"}),
        ("python -m agent", {"evals/agent.py"}),
        ("python -m pkg", {"evals/pkg/__main__.py", "evals/pkg/__init__.py"}),
        ("python ./pkg", {"evals/pkg/__main__.py", "evals/pkg/__init__.py"}),
        ("cat 'conf.txt' | ./agent.py", {"evals/conf.txt", "evals/agent.py"}),
        ("cat ../../outside.txt", set()),
        ("python -m far", set()),
        ("echo nothing \0", set()),
    ],
)
def test_the_files_of_the_project_that_a_command_line_names(
    root: Path, text: str, found: set[str]
) -> None:
    before = sources(root, text)
    assert set(before) == found
    write(root, *FILES, text="y")
    after = sources(root, text)
    assert all(after[name] != before[name] for name in found)


def test_what_a_program_imports_comes_with_it(root: Path) -> None:
    write(root, "evals/agent.py", text="import helper\n")
    write(root, "evals/helper.py", text="A = 1\n")
    assert set(sources(root, "python agent.py")) == {"evals/agent.py", "evals/helper.py"}


def test_a_script_of_python_is_known_by_its_first_line(root: Path) -> None:
    write(root, "evals/bot", text="#!/usr/bin/env python3\nimport agent\n")
    assert set(sources(root, "./bot")) == {"evals/bot", "evals/agent.py"}


def test_modules_are_looked_for_where_pythonpath_leads(root: Path) -> None:
    write(root, "lib/far/__main__.py", text="import near\n")
    path = os.pathsep.join(["", str(root / "lib")])
    assert set(sources(root, "python -m far", path)) == {"lib/far/__main__.py", "lib/near.py"}
