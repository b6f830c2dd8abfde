"""gevent replaces threads and locks. What was made before never ends then, so it is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.project import Project, case

MONKEY = """
saved = {}

def patch_all(thread=True):
    saved["select"] = {}
    if thread:
        saved["threading"] = {}

def is_module_patched(name):
    return name in saved
"""
AGENT = """
from gevent import monkey
monkey.patch_all(thread=%r)

def answer(text):
    return "ok"

def fine(text):
    return True
"""


@pytest.fixture
def patching(tmp_path: Path) -> Project:
    """A project with a stand-in for gevent, and an agent that patches threads."""
    project = Project(tmp_path)
    (tmp_path / "gevent").mkdir()
    (tmp_path / "gevent" / "__init__.py").touch()
    (tmp_path / "gevent" / "monkey.py").write_text(MONKEY)
    (tmp_path / "patched.py").write_text(AGENT % True)
    (tmp_path / "unpatched.py").write_text(AGENT % False)
    project.suite(case("a"))
    return project


@pytest.mark.parametrize("where", [[], ["--processes", "1"]])
def test_a_target_that_patches_threads_is_refused(patching: Project, where: list[str]) -> None:
    done = patching.run_process("run", "--target", "python:patched:answer", *where)
    assert (done.code, patching.runs()) == (2, [])
    assert "it patches threads with gevent" in " ".join(done.err.split())
    done = patching.run_process("run", "--target", "python:unpatched:answer", *where)
    assert done.code == 0


def test_a_grader_that_patches_threads_is_refused(patching: Project) -> None:
    patching.suite({"id": "a", "input": "x", "graders": ["python:patched:fine"]})
    done = patching.run_process("run", "--target", "echo")
    assert (done.code, "it patches threads with gevent" in done.err) == (2, True)


def test_a_program_that_patches_threads_first_may_evaluate(patching: Project) -> None:
    code = "import patched, evalcase; print(evalcase.evaluate('.', 'python:patched:answer').ok)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=patching.path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


def test_anyio_and_processes_of_an_agent_work(patching: Project) -> None:
    patching.add_to_agent("""
import anyio, multiprocessing, sys

async def in_anyio(text):
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0)
    return await anyio.to_thread.run_sync(lambda: "ok")

def in_process(text):
    worker = multiprocessing.get_context("fork").Process(target=sys.exit, args=(5,))
    worker.start()
    worker.join()
    return "ok" if worker.exitcode == 5 else "no"
""")
    for name in ("in_anyio", "in_process"):
        assert patching.run_process("run", "--target", f"python:agent:{name}").code == 0
