import os
import signal

from tests.executors.conftest import dangerous
from tests.executors.workers import await_end, find_processes
from tests.run.project import Gate, Project, case, cases, finish

__all__ = ["dangerous"]


ENDS = {
    "exit": "it exited with code 7",
    "crash": "it was ended by SIGSEGV",
    "say closed and exit": "it wrote something that is not a message",
    'look {"type": "attempt", "took_s": "1"}': "`body.took_s`: Expected `float",
}
"""One of each kind, as each costs the start of a worker. `test_pool.py` has more."""


def test_fault_60_what_ends_a_worker_costs_its_own_trial_alone(dangerous: Project) -> None:
    # As many good ones are with a worker whenever a bad one is.
    bad = [
        each
        for number, text in enumerate(ENDS)
        for each in (*cases(4, prefix=f"before{number}-"), case(text, text))
    ]
    dangerous.suite(*bad, *cases(4))
    done = dangerous.run("run", "--processes", "2", "--json", "--target", "python:agent:dying")
    good = 4 * (len(ENDS) + 1)
    assert (done.code, done.json["passed"], done.json["errored"]) == (3, good, len(ENDS))
    failures = {row["case"]: row["failure"] for row in dangerous.rows() if row.get("failure")}
    assert failures.keys() == ENDS.keys()
    assert {failure["kind"] for failure in failures.values()} == {"exit"}
    assert [text for text, said in ENDS.items() if said not in failures[text]["message"]] == []
    assert len(dangerous.rows()) == good + len(ENDS)


def test_fault_60_what_takes_too_much_memory_is_ended(dangerous: Project) -> None:
    dangerous.configure('[engine]\nkind = "processes"\nworkers = 1\nmemory_mb = 150\n')
    dangerous.suite(case("grow", "grow 300"), *cases(3))
    done = dangerous.run("run", "--json", "--target", "python:agent:dying")
    assert (done.json["passed"], done.json["errored"]) == (3, 1)
    (row,) = [row for row in dangerous.rows() if row["case"] == "grow"]
    assert "more than 150 MB of memory" in row["failure"]["message"]


def test_fault_60_a_blocked_event_loop_is_given_up(dangerous: Project) -> None:
    dangerous.suite(case("block", "block"), *cases(3))
    arguments = ["--concurrency", "1", "--timeout", "0.5", "--target", "python:agent:blocking"]
    done = dangerous.run("run", "--json", "--processes", "1", *arguments)
    assert (done.json["passed"], done.json["errored"]) == (3, 1)
    (row,) = [row for row in dangerous.rows() if row["case"] == "block"]
    assert "its event loop was blocked" in row["failure"]["message"]


def test_fault_60_a_grader_that_blocks_its_worker_is_given_up(dangerous: Project) -> None:
    graders = [{"type": "python:agent:blocks", "timeout_s": 0.5}]
    dangerous.suite(case("bad", "say block", graders=graders), case("good", graders=graders))
    done = finish(dangerous.start("run", "--json", "--processes", "1", "--concurrency", "1"))
    assert (done.code, done.json["passed"], done.json["errored"]) == (3, 1, 1)
    (row,) = [row for row in dangerous.rows() if row["case"] == "bad"]
    assert "its event loop was blocked" in row["grades"][0]["reason"]


def test_fault_60_a_grader_that_ends_its_worker_errors_its_trial(dangerous: Project) -> None:
    graders = ["python:agent:graded"]
    dangerous.suite(case("bad", "say die", graders=graders), case("good", graders=graders))
    done = dangerous.run("run", "--json", "--processes", "2")
    assert (done.json["passed"], done.json["errored"]) == (1, 1)


def test_fault_60_a_worker_that_is_killed_loses_nothing(project: Project, gate: Gate) -> None:
    project.suite(*cases(8, "gate"))
    process = project.start("run", "--json", "--processes", "2", "--concurrency", "4")
    gate.await_calls(4)
    os.kill(find_processes(process.pid)[0], signal.SIGKILL)
    gate.let_go(20)
    done = finish(process)
    assert (done.code, done.json["passed"]) == (0, 8)
    assert sorted(row["case"] for row in project.rows()) == sorted(f"c{n}" for n in range(8))


def test_fault_60_workers_are_gone_when_the_run_is_killed(project: Project, gate: Gate) -> None:
    project.suite(*cases(4, "gate"))
    process = project.start("run", "--processes", "2")
    gate.await_calls(4)
    workers = find_processes(process.pid)
    assert len(workers) == 2
    held = [os.pidfd_open(pid) for pid in workers]
    process.kill()
    process.communicate()
    for descriptor in held:
        await_end(descriptor)
    gate.let_go(8)
    project.forget_calls()
    assert project.run("resume", "--quiet").code == 0
    assert len(project.rows()) == 4
