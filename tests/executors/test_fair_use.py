"""Limits of a target hold for all workers together."""

import subprocess

from tests.run.project import CONFIG, Project, await_lines, case, finish, interrupt

PROCESSES = ("--processes", "2", "--concurrency", "4")


def test_requests_per_minute_are_those_of_all_workers_together(project: Project) -> None:
    project.configure(CONFIG + "rpm = 3\n")  # of `other`
    project.suite(
        *[case(f"c{number}", target="other", expected_output="no") for number in range(9)]
    )
    process = project.start("run", *PROCESSES, out=subprocess.DEVNULL)
    await_lines(process, "failed c", 3)
    interrupt(process)
    assert finish(process).code == 130
    assert len(project.calls("others")) == len(project.rows()) == 3
