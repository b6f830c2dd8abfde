"""What a person sees of a run, in a real terminal and without one."""

import json
import re
import shlex
from typing import Any

import pytest

from tests.cli.pseudo_terminal import CTRL_C, PseudoTerminal
from tests.run.project import AGENT, Gate, Project, case, cases

"""What only the status line has in it."""


def line_of(code: str) -> int:
    return AGENT[: AGENT.index(code)].count("\n") + 1


def mixed(project: Project, *more: dict[str, Any]) -> None:
    project.suite(case("good"), case("bad", "say no"), case("broken", "raise out of ink"), *more)


def test_the_last_screen_of_a_run(project: Project, gate: Gate) -> None:
    mixed(project, case("waits", "gate"))
    terminal = PseudoTerminal(project.path, "run", "--concurrency", "1")
    terminal.await_text("1 running")
    gate.let_go()
    assert terminal.finish() == 3
    assert "\x1b[1;31m" in terminal.text
    assert "\x1b[?25l" not in terminal.text, "the cursor is never hidden"
    assert terminal.screen() == [
        "failed s.eval.yaml: bad",
        "  input     say no",
        "  expected   │ got",
        "  ok         │ no",
        "",
        "errored s.eval.yaml: broken",
        "  input     raise out of ink",
        "  expected  ok",
        "  ValueError: out of ink",
        f"  agent.py:{line_of('raise ValueError(rest)')}, in answer",
        "      raise ValueError(rest)",
        "",
        "2 passed, 1 failed, 1 errored, pass rate 50.0% (15.0–85.0%), 0.1 s",
        "rate     66.7% (20.8–93.9%) of the 3 cases that did not error",
        "record   .evalcase/runs/RUN",
        "next     evalcase resume RUN --retry-errored",
        "",
    ]


def test_a_run_that_goes_well_leaves_no_more_than_it_has_to(project: Project) -> None:
    project.suite(*cases(3))
    terminal = PseudoTerminal(project.path, "run")
    assert terminal.finish() == 0
    assert terminal.screen() == [
        "3 passed, pass rate 100.0% (43.9–100.0%), 0.1 s",
        "record   .evalcase/runs/RUN",
        "",
    ]


def test_the_line_lives_while_nothing_finishes(project: Project, gate: Gate) -> None:
    project.suite(*cases(2))
    terminal = PseudoTerminal(project.path, "run", env={"GATED": "1"})
    gate.await_calls(2)
    terminal.await_text(r"0/2 · 0:(0[1-9]|[1-5]\d) · 2 running")
    gate.let_go(2)
    assert terminal.finish() == 0


def test_ctrl_c_lets_finish_and_leaves_a_clean_screen(project: Project, gate: Gate) -> None:
    project.suite(*cases(6))
    terminal = PseudoTerminal(project.path, "run", "--concurrency", "2", env={"GATED": "1"})
    gate.await_calls(2)
    terminal.await_text("2 running")
    terminal.type(CTRL_C)
    terminal.await_text("finishing ·")
    gate.let_go(2)
    assert terminal.finish() == 130
    assert terminal.screen() == [
        "Ctrl-C: finishing running trials; press it again to stop now",
        "",
        "2 passed, 4 not run, pass rate 100.0% (34.2–100.0%), 0.1 s",
        "record   .evalcase/runs/RUN",
        "stopped  interrupted, with 2 of 6 trials finished and stored",
        "next     evalcase resume RUN",
        "",
    ]


def test_what_an_agent_prints_does_not_tear_the_line(project: Project, gate: Gate) -> None:
    project.add_to_agent(
        """
import logging
logging.basicConfig(format="%(message)s")

def loud(question: Question):
    print("to standard output")
    print("to standard error", file=sys.stderr)
    logging.getLogger("agent").warning("to the log")
    print("no end", end="")
    gate(question.case)
    return "ok"
"""
    )
    project.suite(case("one"))
    terminal = PseudoTerminal(project.path, "run", "--target", "python:agent:loud")
    gate.await_calls(1)
    terminal.await_text("to the log")
    gate.let_go()
    assert terminal.finish() == 0
    assert terminal.screen()[:5] == [
        "to standard output", "to standard error", "to the log", "no end", "",
    ]  # fmt: skip


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_no_live_line_where_none_is_wanted(project: Project, option: str) -> None:
    mixed(project)
    terminal = PseudoTerminal(project.path, "run", option)
    assert terminal.finish() == 3
    lines = terminal.screen()
    if option == "--json":
        assert json.loads("".join(lines))["failed"] == 1
    else:
        assert lines == [
            "1 passed, 1 failed, 1 errored, pass rate 33.3% (6.1–79.2%), 0.1 s",
            "record   .evalcase/runs/RUN",
            "",
        ]


def test_a_quiet_run_breaks_its_warnings_between_words(project: Project) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    project.suite({"id": "one", "input": messages, "expected_output": "hi"})
    (project.path / "bot.py").write_text("def ask(text): return text\n")
    terminal = PseudoTerminal(project.path, "run", "--quiet", "--target", "python:bot:ask")
    terminal.finish()
    assert terminal.screen()[1].startswith("  ")


def test_without_a_terminal_there_are_no_control_codes(project: Project) -> None:
    mixed(project)
    done = project.run("run", "--concurrency", "1")
    assert "\x1b" not in done.out + done.err


def test_the_next_command_finds_a_run_that_is_kept_elsewhere(project: Project) -> None:
    project.suite(case("a", "once"))
    done = project.run("run", "--runs-dir", "kept here")
    last = done.out.splitlines()[-1]
    said = shlex.split(last.removeprefix("next     evalcase "))
    assert (said[0], said[2:]) == ("resume", ["--runs-dir", "kept here", "--retry-errored"])
    assert project.run(*said).code == 0


def assert_prose_hangs(lines: list[str]) -> None:
    assert len(lines) > 1
    assert all(len(line) <= 60 for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])


def flow(lines: list[str]) -> str:
    """What is said, without the lines of the file, of which less fits into a narrow terminal."""
    return " ".join(" ".join(line for line in lines if " | " not in line).split())


def test_prose_is_broken_at_words_on_a_terminal_and_nowhere_else(project: Project) -> None:
    project.suite(case("a", graders=[{"type": "contians", "value": "x"}]))
    terminal = PseudoTerminal(project.path, "check", columns=60)
    assert terminal.finish() == 2
    rows = terminal.screen()
    rows.remove("evalcase explain unknown-grader tells more")
    assert_prose_hangs(rows[: rows.index("")])
    piped = project.run("check").out.splitlines()
    assert flow(rows) == flow(piped)
    assert len(piped) < len(rows)


# What a model says is no command to the CI system that reads the output


COMMANDS = "one\n::warning::pwned\n  ::stop-commands::x\n##vso[task.setvariable]evil\n##[error]pwn"
OBEYED = re.compile(r"^\s*::|##\[|##vso\[", re.MULTILINE)
CI = {"GITHUB_ACTIONS": "true"}


@pytest.fixture
def hostile(project: Project) -> Project:
    project.suite(
        {"id": "a", "input": COMMANDS, "graders": [{"contains": "closed"}]},
        {"id": "b", "input": COMMANDS, "expected_output": "two\n::error::x"}, target="echo",
    )  # fmt: skip
    return project


def test_no_command_of_a_model_is_printed_where_it_would_be_obeyed(hostile: Project) -> None:
    for arguments in (
        ["run"], ["run", "--quiet"], ["report"], ["report", "--case", "a"], ["compare"],
        ["compare", "--format", "markdown"], ["resume", "latest"], ["grade", "latest"],
    ):  # fmt: skip
        done = hostile.run(*arguments, env=CI)
        assert not OBEYED.search(done.out), (arguments, done.out)
        assert not OBEYED.search(done.err), (arguments, done.err)


def test_elsewhere_text_is_shown_as_it_is(hostile: Project) -> None:
    assert "::warning::pwned" in hostile.run("run").out


def test_annotations_are_commands_still(hostile: Project) -> None:
    hostile.run("run")
    done = hostile.run("report", "--format", "github", env=CI)
    assert [line.split(" ")[0] for line in done.out.splitlines()] == ["::error", "::error"]
