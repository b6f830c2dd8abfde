"""A module of the project with the name of one that evalcase, or what it stands on, imports only
when it needs it. As the installed command is, Python doesn't look into the current folder."""

import pytest

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
