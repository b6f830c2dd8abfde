"""What a Python file defines, found out by reading it."""

import sys
from pathlib import Path

import pytest

from evalcase.util.code import object_to_function
from tests.effort import count_steps


def objection(reference: str, root: str) -> tuple[str, str | None] | None:
    found = object_to_function(reference, root, "target")
    return None if found is None else (found.message, found.hint)


DEFINED = {
    "function": "def answer(q): ...",
    "async function": "async def answer(q): ...",
    "class": "class answer:\n    inner = 1",
    "value": "answer = print",
    "annotated": "answer: object = print",
    "several": "other, (answer, *rest) = print, (print, 1)",
    "import": "import os as answer",
    "import from": "from os import path as answer, sep",
    "within a condition": "if True:\n    answer = print\nelse:\n    def other(): ...",
    "within try": "try:\n    from x import answer\nexcept ImportError:\n    pass",
    "in a with": "with open('x') as answer:\n    pass",
    "everything of another": "from os import *",
    "on demand": "def __getattr__(name): ...",
    "by force": "globals()['answer'] = print",
    "global": "def set_up():\n    global answer\n    answer = print\nset_up()",
    "decorated": "@wrap\ndef answer(q): ...",
    "otherwise": "if TYPE_CHECKING:\n    other = 1\nelse:\n    answer = 1",
    "in a nested block": "while True:\n    with a:\n        try:\n            pass\n"
    "        finally:\n            answer = 1\n    break",
    "of a package": "import answer.inner",
}
UNDEFINED = {
    "nothing": "",
    "used only": "print(answer)",
    "of a parameter": "def other(answer): ...",
}


@pytest.mark.parametrize("text", DEFINED.values(), ids=DEFINED)
def test_nothing_is_said_of_what_is_or_may_be_defined(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.py").write_text(text)
    for name in ("agent:answer", "./agent.py:answer", "agent:answer.inner"):
        assert objection(name, str(tmp_path)) is None


@pytest.mark.parametrize("text", UNDEFINED.values(), ids=UNDEFINED)
def test_what_is_not_defined_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.py").write_text(text)
    for name in ("agent:answer", "./agent.py:answer"):
        found = objection(name, str(tmp_path))
        assert found is not None
        assert found[0] == "agent.py has no `answer`"


def test_the_nearest_name_is_offered(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("def answer(q): ...\n_private = 1\n")
    (tmp_path / "pack" / "inner.py").write_text("a = b = 1\n")
    root = str(tmp_path)
    assert objection("pack:anser", root) == (
        "pack/__init__.py has no `anser`", "did you mean `answer`?"
    )  # fmt: skip
    assert objection("pack.inner:xyz", root) == ("pack/inner.py has no `xyz`", None)
    assert objection("pack:inner.a", root) is None


def test_no_file_outside_the_project_is_read(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside.py", tmp_path / "project"
    project.mkdir()
    outside.write_text("password = 1\n")
    (project / "agent.py").symlink_to(outside)
    assert objection("agent:answer", str(project)) is None
    assert objection("./../outside.py:answer", str(project)) is None


def test_a_file_is_taken_apart_once_however_many_of_its_functions_are_named(tmp_path: Path) -> None:
    def look_for(count: int) -> None:
        (tmp_path / "agent.py").write_text("\n".join(f"def f{n}(q): ..." for n in range(count)))
        for number in range(count):
            assert objection(f"agent:f{number}", str(tmp_path)) is None

    assert count_steps(lambda: look_for(100)) < 11 * count_steps(lambda: look_for(10))


def test_a_file_that_is_no_python_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("x = 1\ndef answer(:\n")
    told = ("pack/__init__.py is not valid Python: line 2: invalid syntax", None)
    for name in ("pack:answer", "./pack/__init__.py:answer"):
        assert objection(name, str(tmp_path)) == told


@pytest.fixture(autouse=True)
def only_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Projects of other tests are neither imported nor on the path."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if "pytest-of" not in path])
    for name in ("agent", "pack", "shop"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_a_module_is_looked_for_in_the_project_and_among_what_is_installed(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("1 / 0\nf = 1\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("1 / 0\nf = 1\n")
    (tmp_path / "pack" / "inner.py").write_text("1 / 0\nf = 1\n")
    (tmp_path / "folder").mkdir()
    root = str(tmp_path)
    for name in (
        "agent:f", "pack:f", "pack.inner:f", "folder.anything:f", "json:f", "json.nothing:f",
        "./agent.py:f", "__main__:f", "no module:f", "nosuch", "nosuch:",
    ):  # fmt: skip
        assert objection(name, root) is None
    said, hint = objection("agnet:f", root) or ("", "")
    assert (said, hint) == ("there is no module `agnet`", "did you mean `agent`?")
    said, hint = objection("pack.iner:f", root) or ("", "")
    assert (said, hint) == ("there is no module `pack.iner`", "did you mean `pack.inner`?")
    assert objection("nothing_like_it:f", root) == (
        "there is no module `nothing_like_it`",
        "put it into the project's folder, or install it",
    )
    assert not {"agent", "pack", "folder"} & sys.modules.keys()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in (".venv", "lib", "src"):
        (tmp_path / folder / "shop").mkdir(parents=True)
    return tmp_path


def hint(reference: str, root: Path) -> str | None:
    return (objection(reference, str(root)) or ("", ""))[1]


def test_a_package_in_a_folder_of_the_project_is_hinted_at(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".venv/shop/__init__.py").touch()
    assert (hint("shop.agent:f", project) or "").startswith("put it")
    (project / "src/shop/__init__.py").touch()
    there = "src/shop is there: set PYTHONPATH={}, or install it (`pip install -e .`)"
    assert hint("shop.agent:f", project) == there.format("src")
    monkeypatch.chdir(project / "lib")
    assert hint("shop.agent:f", project) == there.format("../src")
