from tests.run.project import Gate, Project, await_notice, case, cases, finish, ids, interrupt


def test_ctrl_c_lets_finish_what_is_running(project: Project, gate: Gate) -> None:
    project.suite(*cases(6))
    process = project.start("run", "--concurrency", "2", env={"GATED": "1"})
    under_way = list(gate.await_calls(2))
    interrupt(process)
    await_notice(process, "finishing running trials")
    gate.let_go(2)
    done = finish(process)
    assert done.code == 130
    assert sorted(project.calls()) == sorted(under_way)
    assert sorted(project.verdicts()) == sorted(under_way)
    assert "evalcase resume" in done.out
    project.forget_calls()
    resumed = project.run("resume", "--json")
    assert (resumed.code, resumed.counts()) == (0, {"passed": 6})
    assert sorted(project.calls() + under_way) == sorted(ids(cases(6)))


def test_ctrl_c_twice_stops_at_once(project: Project, gate: Gate) -> None:
    project.suite(*cases(6))
    process = project.start("run", "--concurrency", "2", env={"GATED": "1"})
    gate.await_calls(2)
    interrupt(process)
    await_notice(process, "Ctrl-C")
    interrupt(process)
    done = finish(process)
    assert done.code == 130
    assert project.verdicts() == {}
    project.forget_calls()
    resumed = project.run("resume", "--json")
    assert (resumed.code, resumed.counts()) == (0, {"passed": 6})
    assert sorted(project.calls()) == sorted(ids(cases(6)))


def test_interrupted_beats_errored(project: Project, gate: Gate) -> None:
    project.suite(case("a", "raise x"), case("b"), case("c"))
    process = project.start("run", "--concurrency", "1", env={"GATED": "1"})
    gate.await_calls(1)
    interrupt(process)
    await_notice(process, "Ctrl-C")
    gate.let_go()
    assert finish(process).code == 130


def test_an_agent_that_cancels_itself_is_an_errored_trial(project: Project) -> None:
    project.suite(case("odd", "cancel"), *cases(3))
    done = project.run("run", "--json", "--target", "python:agent:cancelling")
    assert (done.code, done.counts()) == (3, {"passed": 3, "errored": 1})


# Every look at the clock finds it ten seconds on, and is told.
BLOCKING = """
from itertools import count
from evalcase.cli import running

seconds = count(0, 10)

def clock():
    os.write(2, b"what time is it?\\n")
    return next(seconds)

async def blocking(question):
    running.monotonic = clock
    print("blocked", flush=True)
    threading.Event().wait()
"""


def test_ctrl_c_reaches_a_run_whose_event_loop_is_blocked(project: Project) -> None:
    project.add_to_agent(BLOCKING)
    project.suite(*cases(3))
    process = project.start("run", "--target", "python:agent:blocking", "--concurrency", "1")
    await_notice(process, "blocked")
    interrupt(process)
    await_notice(process, "what time is it?")
    interrupt(process)
    assert finish(process).code == 130
    assert project.verdicts() == {}, "it has no result, and is run again"
    assert project.run("resume", "--json", "--no-exec").code == 2
