"""User code that ends, blocks or spoils its process. In process, no run is green by it; workers of
`--processes` contain it."""

import re
import subprocess

import pytest

from tests.cli.command import EVALCASE, LIMIT_S, environment
from tests.run.project import Done, Project, case, cases, finish

AGENT = """
import asyncio, atexit, ctypes, os, sys, threading

def at_exit(question):
    atexit.register(sys.exit, 0)
    atexit.register(setattr, sys, "stdout", 7)
    return "ok"

def exits(question):
    os._exit(0)

async def exits_async(question):
    os._exit(0)

def becomes_another(question):
    os.execvp("true", ["true"])

def crashes(question):
    ctypes.string_at(0)

async def closes(question):
    os.closerange(3, 256)
    return "ok"

def takes_all_descriptors(question):
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    threading.Thread(target=turns, daemon=True).start()
    return "ok"

def turns():
    while True:
        pass

async def blocks(question):
    threading.Event().wait()

async def is_stuck(question):
    import hashlib
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", 2**31 - 1)

async def swallows(question):
    while True:
        try:
            await asyncio.sleep(600)
        except BaseException:
            pass

async def replaces(question):
    asyncio.sleep = None
    await question.nothing

async def traces(question):
    def exit(*_):
        sys.exit(0)
    sys.settrace(exit)
    return "ok"
"""
CONTAINED = ("exits", "exits_async", "becomes_another", "crashes", "closes")


def run_process(project: Project, *arguments: str, fresh: bool = False) -> Done:
    """In a process of its own; Python may say what it thinks of threads and exit handlers."""
    process = project.start("run", *arguments, fresh=fresh)
    out, err = process.communicate(timeout=LIMIT_S)
    return Done(process.returncode, out.decode(), err.decode())


def test_fault_43_what_ends_a_process_ends_a_worker_and_costs_its_own_trial(
    project: Project,
) -> None:
    (project.path / "odd.py").write_text(AGENT)
    odd = [case(name, target=f"python:odd:{name}") for name in CONTAINED]
    project.suite(*odd, case("well"))
    done = run_process(project, "--json", "--processes", "2", "--concurrency", "2")
    assert (done.code, done.counts()) == (3, {"passed": 1, "errored": len(CONTAINED)})
    assert len(project.rows()) == len(CONTAINED) + 1


def test_fault_43_exit_handlers_change_no_exit_code(project: Project) -> None:
    (project.path / "odd.py").write_text(AGENT)
    project.suite(case("one", target="python:odd:at_exit"), case("two", "say no"))
    done = run_process(project, "--json")
    assert (done.code, done.counts()) == (1, {"passed": 1, "failed": 1})


def test_fault_43_code_that_takes_all_descriptors_ends_the_run_with_a_message(
    project: Project,
) -> None:
    (project.path / "odd.py").write_text(AGENT)
    project.suite(case("one"), case("two"))
    arguments = ("--target", "python:odd:takes_all_descriptors", "--concurrency", "1")
    # What is imported already needs no descriptor.
    done = run_process(project, *arguments, fresh=True)
    assert done.code != 0
    assert "Too many open files" in done.out + done.err
    shown = project.run("report", "latest").out
    assert "evalcase resume" in shown or "2 passed" in shown


@pytest.mark.parametrize("name", ["replaces", "traces"])
def test_fault_43_what_evalcase_is_made_of_can_be_spoilt_but_no_run_is_green_by_it(
    project: Project, name: str
) -> None:
    (project.path / "odd.py").write_text(AGENT)
    project.suite(*[case(f"odd{number}", target=f"python:odd:{name}") for number in range(3)])
    done = run_process(project, "--concurrency", "1")
    assert done.code == 3
    assert "record   .evalcase/runs/" in done.out
    assert re.search(r"^next     evalcase resume", done.out, re.MULTILINE)


def test_fault_43_code_that_swallows_everything_costs_its_own_trial(project: Project) -> None:
    (project.path / "odd.py").write_text(AGENT)
    project.suite(case("odd", target="python:odd:swallows", timeout_s=0.2), case("well"))
    done = run_process(project, "--json")
    assert (done.code, done.counts()) == (3, {"passed": 1, "errored": 1})
    assert "no answer within 0.2 s" in str(project.rows())


@pytest.mark.parametrize("name", ["blocks", "is_stuck"])
def test_fault_43_a_blocked_event_loop_ends_the_run_which_can_be_resumed(
    project: Project, name: str
) -> None:
    (project.path / "odd.py").write_text(AGENT)
    project.suite(case("well"), case("stuck", target=f"python:odd:{name}", timeout_s=0.2))
    done = run_process(project, "--json", "--concurrency", "1")
    assert (done.code, done.out) == (3, "")
    assert f"stuck: `{name}` (" in done.err
    assert "evalcase resume " in done.err
    assert [row["case"] for row in project.rows()] == ["well"]


OPENS = """
import asyncio, os

opened, all_are_open = [], asyncio.Event()

async def opens(question):
    opened.append(os.open(os.devnull, os.O_RDONLY))
    if len(opened) == 200:
        all_are_open.set()
    await all_are_open.wait()
    return "ok"
"""


def test_fault_43_trials_may_open_as_many_files_as_there_are_trials_at_once(
    project: Project,
) -> None:
    project.add_to_agent(OPENS)
    project.suite(*cases(200))
    options = ("--json", "--concurrency", "200", "--timeout", "30")
    asked = ("run", *options, "--target", "python:agent:opens")
    around = ("bash", "-c", 'ulimit -Sn 128; exec "$0" "$@"')
    process = subprocess.Popen(
        [*around, *EVALCASE, *asked], cwd=project.path, env=environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    done = finish(process)
    assert (done.code, done.counts()) == (0, {"passed": 200})
