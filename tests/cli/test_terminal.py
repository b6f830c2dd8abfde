"""What a person sees of a run, in a real terminal and without one."""

from __future__ import annotations

import json
import shlex
import signal
from itertools import takewhile
from typing import Any

import pytest

from evalcase.report.terminal import seen_from
from tests.cli.pseudo_terminal import CTRL_C, PseudoTerminal
from tests.for_each import for_each
from tests.run.project import AGENT, Gate, Project, case, cases

LIVE = "━─▸"
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
    lines = terminal.screen()
    assert [line for line in lines if not line.startswith(("slowest", "latency"))] == [
        'failed bad: expected "ok", got "no"',
        "errored broken: ValueError: out of ink",
        "",
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
        "next     fix it, then: evalcase run --failed-of RUN",
        "",
    ]


def test_a_run_that_goes_well_leaves_no_more_than_it_has_to(project: Project) -> None:
    project.suite(*cases(3))
    terminal = PseudoTerminal(project.path, "run")
    assert terminal.finish() == 0
    lines = [line for line in terminal.screen() if not line.startswith(("slowest", "latency"))]
    assert lines == [
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


@pytest.mark.parametrize("columns", [40, 200])
def test_narrow_and_wide(project: Project, columns: int) -> None:
    mixed(project)
    terminal = PseudoTerminal(project.path, "run", "--concurrency", "1", columns=columns)
    assert terminal.finish() == 3
    lines = terminal.screen()
    said = [line for line in lines if not line.startswith(("record", "next")) and line != "ored"]
    assert max(map(len, said)) <= columns
    assert not [line for line in lines if any(char in line for char in LIVE)]


def test_ctrl_c_lets_finish_and_leaves_a_clean_screen(project: Project, gate: Gate) -> None:
    project.suite(*cases(6))
    terminal = PseudoTerminal(project.path, "run", "--concurrency", "2", env={"GATED": "1"})
    gate.await_calls(2)
    terminal.await_text("2 running")
    terminal.type(CTRL_C)
    terminal.await_text("finishing ·")
    gate.let_go(2)
    assert terminal.finish() == 130
    lines = [line for line in terminal.screen() if not line.startswith(("slowest", "latency"))]
    assert lines == [
        "Ctrl-C: finishing running trials; press it again to stop now",
        "",
        "2 passed, 4 not run, pass rate 100.0% (34.2–100.0%), 0.1 s",
        "record   .evalcase/runs/RUN",
        "stopped  interrupted, with 2 of 6 trials finished and stored",
        "next     evalcase resume RUN",
        "",
    ]


def test_ctrl_c_twice_leaves_a_clean_screen(project: Project, gate: Gate) -> None:
    project.suite(*cases(6))
    terminal = PseudoTerminal(project.path, "run", "--concurrency", "2", env={"GATED": "1"})
    gate.await_calls(2)
    terminal.type(CTRL_C)
    terminal.await_text("press it again")
    terminal.type(CTRL_C)
    assert terminal.finish() == 130
    assert terminal.screen() == [
        "Ctrl-C: finishing running trials; press it again to stop now",
        "stopping now",
        "",
        "6 not run, 0.1 s",
        "record   .evalcase/runs/RUN",
        "stopped  interrupted, with 0 of 6 trials finished and stored",
        "next     evalcase resume RUN",
        "",
    ]


def test_kill_leaves_a_clean_screen(project: Project, gate: Gate) -> None:
    project.suite(case("bad", "say no"), case("waits", "gate"))
    terminal = PseudoTerminal(project.path, "run")
    gate.await_calls(1)
    terminal.await_text("1 running")
    terminal.process.terminate()
    assert terminal.finish() == -signal.SIGTERM
    assert terminal.screen() == ['failed bad: expected "ok", got "no"', "", ""]


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


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": "dumb", "NO_COLOR": "1"}])
def test_a_dumb_terminal_gets_text_only(project: Project, env: dict[str, str]) -> None:
    mixed(project)
    terminal = PseudoTerminal(project.path, "run", env=env)
    assert terminal.finish() == 3
    assert "\x1b" not in terminal.text
    assert not any(char in terminal.text for char in LIVE)


def test_no_color_is_obeyed_and_the_line_lives_on(project: Project, gate: Gate) -> None:
    project.suite(case("bad", "say no"), case("waits", "gate"))
    terminal = PseudoTerminal(project.path, "run", env={"NO_COLOR": "1"})
    gate.await_calls(1)
    terminal.await_text("1 running")
    gate.let_go()
    assert terminal.finish() == 1
    screen = terminal.screen()
    assert "\x1b[0m" not in terminal.text
    assert screen[2:4] == ["failed s.eval.yaml: bad", "  input     say no"]
    assert screen[4:6] == ["  expected   │ got", "  ok         │ no"]


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


def test_without_a_terminal_there_are_no_control_codes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine is, there are no lines on progress.
    monkeypatch.setattr("evalcase.report.progress._SHORTEST_S", float("inf"))
    mixed(project)
    done = project.run("run", "--concurrency", "1")
    assert done.err.splitlines() == [
        'failed bad: expected "ok", got "no"',
        "errored broken: ValueError: out of ink",
    ]
    assert "\x1b" not in done.out + done.err


def test_a_resumed_run_counts_what_is_left(project: Project, gate: Gate) -> None:
    project.suite(case("a", "raise x"), case("b", "gate"), case("c"))
    gate.let_go()
    assert project.run("run", "--quiet").code == 3
    (project.path / "agent.py").write_text(
        (project.path / "agent.py")
        .read_text()
        .replace("raise ValueError(rest)", "gate(question.case)")
    )
    terminal = PseudoTerminal(project.path, "resume", project.runs()[0].name, "--retry-errored")
    gate.await_calls(2)
    terminal.await_text("0/1 ")
    gate.let_go()
    terminal.finish()


def test_the_next_command_finds_a_run_that_is_kept_elsewhere(project: Project) -> None:
    project.suite(case("a", "once"))
    done = project.run("run", "--runs-dir", "kept here")
    last = done.out.splitlines()[-1]
    said = shlex.split(last.removeprefix("next     fix it, then: evalcase "))
    assert (said[:2], said[3:]) == (["run", "--failed-of"], ["--runs-dir", "kept here"])
    assert project.run(*said).code == 0


def test_paths_are_as_seen_from_where_the_person_is(project: Project) -> None:
    project.suite(case("a", "once"))
    run = project.run("run", "--quiet").out
    assert "record   .evalcase/runs/" in run
    (project.path / "below").mkdir()
    name = project.runs()[0].name
    done = project.run("resume", name, "--retry-errored", below="below")
    assert f"record   {project.runs()[0]}" in done.out


@for_each(
    ("path", "shown"),
    [
        ("/p/project/runs/1", "runs/1"),
        ("/p/other", "/p/other"),
        ("/p/project/..runs/1", "..runs/1"),
        ("/p/project", "."),
    ],
)
def test_a_path_below_is_relative_and_any_other_is_whole(path: str, shown: str) -> None:
    assert seen_from("/p/project", path) == shown


def test_several_targets_get_a_table(project: Project) -> None:
    project.suite(case("a"), case("b", "say no"), case("c", "raise x"))
    done = project.run("run", "--target", "agent", "--target", "other")
    head = "target  passed  failed  errored  pass rate     interval  median"
    at = done.out.splitlines().index(head)
    rows = [line.split()[:6] for line in done.out.splitlines()[at + 1 : at + 3]]
    assert sorted(rows) == [
        ["agent", "1", "1", "1", "33.3%", "6.1–79.2%"],
        ["other", "3", "0", "0", "100.0%", "43.9–100.0%"],
    ]
    assert "failed s.eval.yaml: b (agent)" in done.out


def test_a_list_in_a_terminal_of_80_columns(project: Project) -> None:
    project.suite(case("a", "cost 0.25"))
    assert project.run("run", "--quiet").code == 0
    terminal = PseudoTerminal(project.path, "list")
    assert terminal.finish() == 0
    assert terminal.screen() == [
        "run                     age  cases  passed  failed  errored     cost",
        "RUN  now      1  100.0%       0        0  $0.2500",
        "  s.eval.yaml  agent",
        "",
    ]


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


def test_what_keeps_a_run_from_starting_is_broken_at_words(project: Project) -> None:
    why = "it is half written, and will be finished some other day, when there is time for it"
    (project.path / "broken.py").write_text(f"raise ValueError({why!r})\n\ndef grade(): ...\n")
    project.suite(case("a", graders=["python:broken:grade"]))
    terminal = PseudoTerminal(project.path, "run", columns=60)
    assert terminal.finish() == 2
    rows = [row for row in terminal.screen() if row]
    assert rows[-1] == "nothing was run"
    # Up to the path of the module: the terminal itself breaks that if it is wider than a row.
    assert_prose_hangs(list(takewhile(lambda row: "/" not in row, rows)))
