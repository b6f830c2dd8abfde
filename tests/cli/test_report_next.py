from __future__ import annotations

import shlex

import pytest

from tests.cli.reported import next_of, trials
from tests.run.project import Project, case, cases


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("say ok", [], []),
        ("say no", [], ["report", "--case", "one"]),
        ("say no", ["--fail-fast"], ["report", "--case", "one"]),
        ("raise x", [], ["resume", "--retry-errored"]),
        ("raise x", ["--fail-fast"], ["resume", "--retry-errored"]),
    ],
)
def test_the_next_command_is_the_one_that_helps(
    project: Project, text: str, options: list[str], words: list[str]
) -> None:
    project.suite(case("one", text), case("two"))
    done = project.run("run", "--concurrency", "1", *options)
    assert next_of(done) == words
    assert next_of(project.run("report")) == words


def test_after_a_cap_the_next_command_raises_it_and_does_not_stop_at_once(
    project: Project,
) -> None:
    project.suite(*(case(f"c{number}", "cost 0.3") for number in range(4)))
    done = project.run("run", "--max-cost", "0.5", "--concurrency", "1")
    assert done.code == 3
    assert next_of(done) == ["resume", "--max-cost", "1.2"]
    assert next_of(project.run("report")) == ["resume", "--max-cost", "1.2"]
    again = project.run("resume", "--max-cost", "1.2")
    assert "pass rate 100.0%" in again.out


def test_an_interrupted_run_is_shown_as_far_as_it_came(project: Project) -> None:
    project.suite(*cases(3), case("four", repeat=2))
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(4)
    done = project.run("report")
    assert done.code == 0
    assert "3 passed, 1 unfinished, pass rate 100.0% (43.9–100.0%)\n" in done.out, (
        "how long it took is unknown"
    )
    assert "stopped  killed, or still running, with 4 of 5 trials finished and stored" in done.out
    assert next_of(done) == ["resume"]
    rows = trials(project.run("report", "--format", "jsonl", "--verdict", "unfinished"))
    assert [(row["case"], row["case_verdict"]) for row in rows] == [("four", None)]


@pytest.mark.parametrize("folder", [[], ["--runs-dir", "else where"]])
def test_what_to_do_next_is_said_of_the_grading_that_is_shown(
    project: Project, folder: list[str]
) -> None:
    project.suite(case("one", "say yes"))
    project.run("run", "--quiet", *folder)
    project.suite({"id": "one", "input": "say yes", "expected_output": "yes"})
    assert project.run("resume", "latest", "--quiet", *folder).code == 0
    first = project.run("report", "latest@1", *folder)
    (line,) = [line for line in first.out.splitlines() if line.startswith("next ")]
    command, *arguments = shlex.split(line.removeprefix("next "))
    assert (command, arguments[1].partition("@")[2]) == ("evalcase", "1")
    assert "failed" in project.run(*arguments).out
