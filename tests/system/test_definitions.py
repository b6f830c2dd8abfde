"""What a Python file defines, found out by reading it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalcase.system.definitions import find_undefined

DEFINED = {
    "function": "def answer(q): ...",
    "async function": "async def answer(q): ...",
    "class": "class answer: ...",
    "value": "answer = print",
    "annotated": "answer: object = print",
    "several": "other, (answer, *rest) = print, (print, 1)",
    "import": "import os as answer",
    "import from": "from os import path as answer, sep",
    "within a condition": "if True:\n    answer = print\nelse:\n    def other(): ...",
    "within try": "try:\n    from x import answer\nexcept ImportError:\n    pass",
    "in a with": "with open('x') as answer:\n    pass",
    "in a loop": "for answer in ():\n    pass",
    "on the way": "print(answer := 1)",
    "everything of another": "from os import *",
    "on demand": "def __getattr__(name): ...",
    "by force": "globals()['answer'] = print",
    "no Python": "def answer(:",
}
UNDEFINED = {
    "nothing": "",
    "used only": "print(answer)",
    "within a function": "def other():\n    answer = 1",
    "a method": "class Other:\n    def answer(self): ...",
    "odd style": "pattern = '\\d'",
}


@pytest.mark.parametrize("text", DEFINED.values(), ids=DEFINED)
def test_nothing_is_said_of_what_is_or_may_be_defined(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.py").write_text(text)
    for name in ("agent:answer", "./agent.py:answer", "agent:answer.inner"):
        assert find_undefined(name, str(tmp_path)) is None


@pytest.mark.parametrize("text", UNDEFINED.values(), ids=UNDEFINED)
def test_what_is_not_defined_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.py").write_text(text)
    for name in ("agent:answer", "./agent.py:answer"):
        found = find_undefined(name, str(tmp_path))
        assert found is not None
        assert found[0] == "agent.py has no `answer`"


def test_the_nearest_name_is_offered(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("def answer(q): ...\n_private = 1\n")
    (tmp_path / "pack" / "inner.py").write_text("a = b = 1\n")
    root = str(tmp_path)
    assert find_undefined("pack:anser", root) == (
        "pack/__init__.py has no `anser`", "did you mean `answer`?"
    )  # fmt: skip
    assert find_undefined("pack.inner:xyz", root) == ("pack/inner.py has no `xyz`", "it has a, b")
    assert find_undefined("pack:inner.a", root) is None
    assert find_undefined("elsewhere:answer", root) is None


def test_no_file_outside_the_project_is_read(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside.py", tmp_path / "project"
    project.mkdir()
    outside.write_text("password = 1\n")
    (project / "agent.py").symlink_to(outside)
    assert find_undefined("agent:answer", str(project)) is None
    assert find_undefined("./../outside.py:answer", str(project)) is None
