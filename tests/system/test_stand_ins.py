from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest

from evalcase.system.stand_ins import find_stand_in


@pytest.mark.parametrize(
    "written",
    [
        "(a)", "(a, b=None)", "(a, /, b, *, c, d=None)", "(*args, **kwargs)", "()",
        "(a, /, b=None, *args, c, **kwargs)", "(a: 'int', b: 'str' = None)",
    ],
)  # fmt: skip
def test_it_takes_what_the_function_takes(tmp_path: Path, written: str) -> None:
    text = f"def grade{written}:\n    return True\n"
    (tmp_path / "checks.py").write_text(text)
    found = find_stand_in("checks:grade", str(tmp_path))
    made: dict[str, object] = {}
    exec(text, made)
    assert found is not None
    assert found.__name__ == "grade"
    assert signature(found) == signature(made["grade"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "@wrap\ndef grade(a): ...",
        "class grade:\n    def __call__(self, a): ...",
        "grade = make(1)",
        "def grade(a): ...\ndef grade(b): ...",
        "def grade(a): ...\ngrade = wrap(grade)",
        "def grade(a): ...\nregister(grade)",
        "def grade(a): ...\ngrade.__signature__ = None",
        "def grade(a): ...\nglobals()['grade'] = None",
        "def grade(a): ...\ndef change():\n    global grade\n    grade = None",
        "if True:\n    def grade(a): ...",
        "from other import grade",
        "def grade(a",
    ],
)
def test_what_may_be_anything_has_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "checks.py").write_text(text)
    assert find_stand_in("checks:grade", str(tmp_path)) is None
