"""A module of the project with the name of one that evalcase, or what it stands on, imports only
when it needs it. As the installed command is, Python doesn't look into the current folder."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import evalcase
from evalcase.system.own_modules import NEEDED_LATER
from tests.run.project import Project, case

ENV = {"PYTHONSAFEPATH": "1"}
BROKEN = "raise RuntimeError('mine')\n"


@pytest.mark.parametrize("engine", [[], ["--processes", "1"]], ids=str)
def test_fault_53_a_project_s_modules_break_nothing_of_evalcase(
    project: Project, engine: list[str]
) -> None:
    for name in ("shlex", "datetime", "yaml", "traceback", "random", "html", "csv", "difflib"):
        (project.path / f"{name}.py").write_text(BROKEN)
    project.suite(case("right"), case("it's wrong", "say no"), case("raised", "raise x"))
    done = project.run_process("run", "--report", "out.html", *engine, env=ENV)
    assert (done.code, "mine" in done.err + done.out) == (3, False), done
    assert project.verdicts() == {"right": "passed", "it's wrong": "failed", "raised": "errored"}


def test_fault_53_user_code_finds_its_own_modules_first(project: Project) -> None:
    for name in ("code", "orders", "click_through", "evals"):
        (project.path / f"{name}.py").write_text("ANSWER = 'ok'\n")
    names = "import code, orders, click_through, evals"
    project.add_to_agent(f"{names}\ndef mine(question):\n    return code.ANSWER\n")
    project.suite(case("one"))
    done = project.run_process("run", "--json", "--target", "python:agent:mine", env=ENV)
    assert (done.code, done.counts()) == (0, {"passed": 1})


def test_fault_53_a_target_with_such_a_name_says_how_to_name_it(project: Project) -> None:
    (project.path / "calendar.py").write_text("def plan(text):\n    return 'ok'\n")
    project.suite(case("one"))
    done = project.run_process("run", "--target", "python:calendar:plan", env=ENV)
    assert (done.code, "./calendar.py:plan" in done.err) == (2, True)
    done = project.run_process("run", "--target", "python:./calendar.py:plan", env=ENV)
    assert done.code == 0


def test_fault_53_every_module_that_evalcase_imports_is_known() -> None:
    begun = {"__future__", "builtins", "sys", "time", "io", "abc", "codecs", "_imp", "marshal"}
    found = set()
    for path in Path(evalcase.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).partition(".")[0])
    public = {name for name in found & sys.stdlib_module_names if not name.startswith("_")}
    assert public - NEEDED_LATER - begun == set()
