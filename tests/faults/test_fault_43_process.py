"""Code of users that is after the process it is in: it would end or fork it, closes its
descriptors, or puts something else in the place of what evalcase is made of."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.cli.command import EVALCASE, LIMIT_S, environment
from tests.run.project import Done, Project, case, cases, finish

AGENT = """
import asyncio, atexit, os, sys, threading

def at_exit(question):
    atexit.register(os._exit, 0)
    atexit.register(sys.exit, 0)
    atexit.register(setattr, sys, "stdout", 7)
    return "ok"

def exits(question):
    os._exit(0)

async def exits_async(question):
    os._exit(0)

def becomes_another(question):
    os.execvp("true", ["true"])

def exits_in_a_thread(question):
    thread = threading.Thread(target=os._exit, args=(0,))
    thread.start()
    thread.join()
    return "ok"

def forks(question):
    return ended(os.fork())

async def forks_async(question):
    return ended(os.fork())

async def forks_and_waits(question):
    child = os.fork()
    if not child:
        await asyncio.sleep(0)
        await asyncio.sleep(0.01)
    return ended(child)

def ended(child):
    return "ok" if child and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3 else "child"

async def exits_while_there_is_something_to_read(question):
    for _ in range(5):
        reader, writer = os.pipe()
        os.write(writer, b"x")
        asyncio.get_running_loop().add_reader(reader, sys.exit, 0)
    await asyncio.sleep(0.01)
    return "ok"

async def lets_no_task_be_made(question):
    asyncio.get_running_loop().set_task_factory(lambda *_, **__: sys.exit(0))
    return "ok"

def closes(question):
    os.closerange(3, 256)
    return "ok"

async def closes_async(question):
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
REFUSED = ("exits", "exits_async", "becomes_another")
HARMLESS = (
    "at_exit", "exits_in_a_thread", "forks", "forks_async", "forks_and_waits",
    "exits_while_there_is_something_to_read", "lets_no_task_be_made",
)  # fmt: skip


def run_process(project: Project, *arguments: str, fresh: bool = False) -> Done:
    """In a process of its own; Python may say what it thinks of threads and exit handlers."""
    process = project.start("run", *arguments, fresh=fresh)
    out, err = process.communicate(timeout=LIMIT_S)
    return Done(process.returncode, out.decode(), err.decode())


def test_fault_43_nobody_ends_or_doubles_the_process_but_evalcase(project: Project) -> None:
    (project.path / "odd.py").write_text(AGENT)
    names = (*REFUSED, *HARMLESS)
    project.suite(*[case(name, target=f"python:odd:{name}") for name in names], case("well"))
    done = run_process(project, "--json", "--concurrency", "1")
    assert done.counts() == {"passed": len(HARMLESS) + 1, "errored": len(REFUSED)}
    assert done.code == 3
    assert len(project.rows()) == len(names) + 1
    assert "os._exit(0) would end evalcase" in str(project.rows())
    assert done.err.count("has forked came back from it") == 3
    assert done.err.count("outside of any trial") == 1


def test_fault_43_a_module_that_forks_when_it_is_imported_makes_no_second_run(
    project: Project,
) -> None:
    (project.path / "odd.py").write_text(f"{AGENT}\nended(os.fork())\ndef answer(q): return 'ok'")
    project.suite(case("one"))
    done = run_process(project, "--json", "--target", "python:odd:answer")
    assert (done.code, done.counts(), len(project.runs())) == (0, {"passed": 1}, 1)


@pytest.mark.parametrize("name", ["closes", "closes_async", "takes_all_descriptors"])
def test_fault_43_closing_what_evalcase_needs_ends_the_run_with_a_word(
    project: Project, name: str
) -> None:
    (project.path / "odd.py").write_text(AGENT)
    project.suite(case("one"), case("two"))
    arguments = ("--target", f"python:odd:{name}", "--concurrency", "1")
    # What is imported already needs no descriptor.
    done = run_process(project, *arguments, fresh=True)
    assert (done.code, "can't continue" in done.err) == (3, True)
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
    assert re.search(
        r"^next     (fix it, then: evalcase run|evalcase resume)", done.out, re.MULTILINE
    )


def test_fault_43_what_blocks_the_event_loop_beyond_its_limit_costs_its_own_trial(
    project: Project,
) -> None:
    (project.path / "odd.py").write_text(AGENT)
    names = ("swallows", "blocks")
    odd = [case(name, target=f"python:odd:{name}", timeout_s=0.2) for name in names]
    project.suite(*odd, case("well"))
    done = run_process(project, "--json")
    assert (done.code, done.counts()) == (3, {"passed": 1, "errored": 2})
    assert str(project.rows()).count("no answer within 0.2 s") == 2


def test_fault_43_what_can_not_be_ended_ends_the_run_which_can_be_resumed(
    project: Project,
) -> None:
    (project.path / "odd.py").write_text(AGENT)
    project.suite(case("well"), case("stuck", target="python:odd:is_stuck", timeout_s=0.2))
    done = run_process(project, "--json", "--concurrency", "1")
    assert (done.code, done.out) == (3, "")
    assert "stuck: `is_stuck` (" in done.err
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
