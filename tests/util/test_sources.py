import os
from pathlib import Path

import pytest

from evalcase.util.code import program_sources, trace_sources


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / f"{name.replace('__', '/').replace('INIT', '__init__')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")


def traced(root: Path, name: str = "agent.py") -> list[str]:
    return list(trace_sources([str(root / name)], str(root)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a", ["a.py"]),
        ("from a import x", ["a.py"]),
        ("import pack.inner.deep", ["pack/inner/deep.py", "pack/other.py"]),
        ("from pack.inner import deep", ["pack/inner/deep.py", "pack/other.py"]),
        ("from pack.inner import (\n    nothing,  # why\n    deep,\n)", ["pack/inner/deep.py"]),
        ("def f():\n    import a", ["a.py"]),
        ("if True: import a", ["a.py"]),
        ("from a import *", ["a.py"]),
        ("from .import a", ["a.py"]),
        ("\ufefffrom a import x", ["a.py"]),
        ("import numpy\nimport nothing", []),
        ("# import a", []),
    ],
)
def test_imports_of_the_project_are_found(tmp_path: Path, text: str, found: list[str]) -> None:
    write(tmp_path, agent=text, a="x = 1", pack__other="", pack__inner__deep="from .. import other")
    assert [name for name in traced(tmp_path) if name in found] == sorted(found)
    assert "agent.py" in traced(tmp_path)
    assert ("a.py" in traced(tmp_path)) == ("a.py" in found)


def test_packages_around_a_module_count(tmp_path: Path) -> None:
    write(tmp_path, src__pack__INIT="", src__pack__sub__INIT="import pack.late")
    write(tmp_path, src__pack__sub__agent="from . import near", src__pack__sub__near="")
    write(tmp_path, src__pack__late="import pack.sub.agent")
    names = ["__init__", "late", "sub/__init__", "sub/agent", "sub/near"]
    expected = [f"src/pack/{name}.py" for name in names]
    assert traced(tmp_path, "src/pack/sub/agent.py") == expected


def test_nothing_outside_the_project_and_nothing_that_is_installed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path, other="", root__agent="import other, linked, site")
    write(root, **{"venv__site-packages__site": ""})
    (root / "linked.py").symlink_to(tmp_path / "other.py")
    assert traced(root) == ["agent.py"]


def test_a_hash_of_what_each_holds(tmp_path: Path) -> None:
    write(tmp_path, agent="import a", a="x = 1")
    before = trace_sources([str(tmp_path / "agent.py")], str(tmp_path))
    write(tmp_path, a="x = 2")
    after = trace_sources([str(tmp_path / "agent.py")], str(tmp_path))
    assert before["agent.py"] == after["agent.py"]
    assert before["a.py"] != after["a.py"]


def test_modules_are_looked_for_where_this_process_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, agents__bot="import lib", src__lib="")
    assert traced(tmp_path, "agents/bot.py") == ["agents/bot.py"]
    monkeypatch.syspath_prepend(tmp_path / "src")
    assert traced(tmp_path, "agents/bot.py") == ["agents/bot.py", "src/lib.py"]


FILES = (
    "evals/agent.py", "evals/conf.txt", "tools/run.py", "evals/pkg/__init__.py",
    "evals/pkg/__main__.py", "lib/far/__main__.py", "lib/near.py",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    fill(root, *FILES, text="x")
    (tmp_path / "outside.txt").write_text("x")
    return root


def fill(root: Path, *names: str, text: str) -> None:
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
    fill(root, *FILES, text="y")
    after = sources(root, text)
    assert all(after[name] != before[name] for name in found)


def test_what_a_program_imports_comes_with_it(root: Path) -> None:
    fill(root, "evals/agent.py", text="import helper\n")
    fill(root, "evals/helper.py", text="A = 1\n")
    assert set(sources(root, "python agent.py")) == {"evals/agent.py", "evals/helper.py"}


def test_modules_are_looked_for_where_pythonpath_leads(root: Path) -> None:
    fill(root, "lib/far/__main__.py", text="import near\n")
    path = os.pathsep.join(["", str(root / "lib")])
    assert set(sources(root, "python -m far", path)) == {"lib/far/__main__.py", "lib/near.py"}
