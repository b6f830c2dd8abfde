"""The rest of the table of misbehaviour: programs and workers, and what only shows in a process of
its own, such as threads that never end and descriptors that are closed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import LIMIT_S, start_process
from tests.run.project import Done, Project, case, cases
from tests.store.rows import read_results

COMMANDS: dict[str, tuple[str, str, str]] = {
    "right": ("echo ok", "passed", ""),
    "nothing": ("true", "failed", ""),
    "junk": ("echo junk", "failed", ""),
    "twice": ("echo ok; echo ok", "failed", ""),
    "fails": ("echo ok; exit 3", "errored", "exited with code 3"),
    "killed": ("echo ok; kill -9 $$", "errored", "SIGKILL"),
    "hangs": ("echo ok; sleep 600", "errored", "within 1 s"),
    "does_not_listen": ("trap '' TERM INT HUP; echo ok; sleep 600", "errored", "within 1 s"),
    "closes_its_output": ("exec >&- 2>&-; sleep 600", "errored", "within 1 s"),
    "leaves_a_child": ("sleep 600 & echo ok", "passed", ""),
    "leaves_a_child_that_prints": ("(sleep 600; echo late) & echo ok", "passed", ""),
    "is_not_there": ("exec ./nowhere", "errored", "exited with code 127"),
    "complains": ("echo ok; echo no >&2", "passed", ""),
    "no_utf_8": (r"printf 'o\377k'", "failed", ""),
}
"""A command of a shell, its verdict, and what its failure says."""

WORKER = """
import json, os, sys, time
kind = sys.argv[1]
for number, line in enumerate(sys.stdin):
    id = json.loads(line)["id"]
    right = json.dumps({"id": id, "answer": "ok"})
    said = {
        "right": right, "twice": right + "\\n" + right, "no_id": '{"answer": "ok"}',
        "another_id": '{"id": "x0", "answer": "ok"}', "no_json": "ok", "a_list": "[]",
        "null": json.dumps({"id": id, "answer": None}),
        "both": json.dumps({"id": id, "answer": "ok", "error": "no"}),
        "an_error": json.dumps({"id": id, "error": "no"}),
        "a_log_line": "starting\\n" + right, "an_empty_line": "\\n" + right,
    }.get(kind)
    if kind == "hangs":
        time.sleep(600)
    if kind == "exits":
        sys.exit(0)
    if kind == "half":
        os.write(1, right[:9].encode())
        os._exit(0)
    print(said, flush=True)
"""
WORKERS: dict[str, tuple[str, str]] = {
    "right": ("passed", ""),
    "twice": ("errored", 'wrote a line before it was asked: {"id": "x1", "answer": "ok"}'),
    "no_id": ("errored", "has the id None, not"),
    "another_id": ("errored", "has the id 'x0', not"),
    "no_json": ("errored", "not JSON"),
    "a_list": ("errored", "`answer` or `error`: []"),
    "null": ("errored", "null"),
    "both": ("errored", "`answer` or `error`"),
    "an_error": ("errored", "the worker says: no"),
    "a_log_line": ("errored", "starting"),
    "an_empty_line": ("errored", "not JSON"),
    "hangs": ("errored", "within 1 s"),
    "exits": ("errored", "ended without an answer"),
    "half": ("errored", "ended without an answer"),
}
"""What the second question to a worker comes to; some answer the first one well."""


def configure(project: Project, targets: dict[str, dict[str, Any]]) -> None:
    lines = []
    for name, options in targets.items():
        lines += [f"[targets.{name}]", 'kind = "command"']
        lines += [f"{key} = {json.dumps(value)}" for key, value in options.items()]
    project.configure("\n".join(lines) + "\n")


def outcomes(project: Project) -> dict[str, tuple[str, str]]:
    journal = str(project.runs()[-1] / "journal.jsonl")
    return {
        result.key.case: (result.verdict, result.failure.message if result.failure else "")
        for result in read_results(journal)
    }


def limit_of(word: str) -> float:
    return 1.0 if "within" in word else LIMIT_S


def test_fault_42_whatever_a_command_does_costs_its_own_trial(project: Project) -> None:
    configure(
        project, {name: {"command": ["sh", "-c", line[0]]} for name, line in COMMANDS.items()}
    )
    project.suite(
        *[
            case(name, target=name, timeout_s=limit_of(word))
            for name, (*_, word) in COMMANDS.items()
        ]
    )
    done = project.run("run", "--json", "--concurrency", "20")
    found = outcomes(project)
    for name, (_, verdict, word) in COMMANDS.items():
        assert found[name][0] == verdict, (name, found[name])
        assert word in found[name][1], (name, found[name])
    assert (done.code, done.json["status"]) == (3, "completed")


def test_fault_42_whatever_a_worker_does_costs_its_own_trials(project: Project) -> None:
    (project.path / "worker.py").write_text(WORKER)
    configure(
        project,
        {
            name: {"command": [sys.executable, "-S", "worker.py", name], "mode": "worker"}
            for name in WORKERS
        },
    )
    for number in ("first", "second"):
        given = {
            name: case(f"{number}-{name}", target=name, timeout_s=limit_of(word))
            for name, (_, word) in WORKERS.items()
        }
        project.suite(*given.values(), name=number)
    done = project.run("run", "--json", "--concurrency", "20")
    found = outcomes(project)
    for name, (verdict, word) in WORKERS.items():
        assert found[f"second-{name}"][0] == verdict, (name, found[f"second-{name}"])
        assert word in found[f"second-{name}"][1], (name, found[f"second-{name}"])
    assert found["first-twice"][0] == "passed"
    assert (done.code, done.json["status"]) == (3, "completed")


AGENT = """
import asyncio, atexit, concurrent.futures, os, subprocess, sys, threading, time
POOL = concurrent.futures.ThreadPoolExecutor()
atexit.register(time.sleep, 600)

async def to_thread(question):
    await asyncio.to_thread(time.sleep, 600)

async def own_pool(question):
    return POOL.submit(time.sleep, 600) and "ok"

async def own_thread(question):
    threading.Thread(target=time.sleep, args=(600,)).start()
    return "ok"

def writes(question):
    os.write(1, b"written\\n")
    subprocess.run(["echo", "by a child"], check=True)
    print("printed")
    return "ok"

def closes(question):
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        stream.close()
    return "ok"

def closes_descriptors(question):
    os.close(1)
    os.close(2)
    return "ok"

def no_exit(question):
    sys.exit = lambda *_: None
    threading.Timer(0.5, leave_no_streams).start()
    return "ok"

def leave_no_streams():
    sys.stdout = sys.stderr = None

def goes_elsewhere(question):
    os.chdir("/")
    return "ok"

class Leaves:
    def answer(self, question):
        return "ok"

    async def close(self):
        sys.exit(0)
"""
IN_A_PROCESS = ("own_pool", "own_thread", "writes", "no_exit", "goes_elsewhere", "Leaves", "closes")


def run_process(project: Project, *arguments: str, stderr: int = subprocess.PIPE) -> Done:
    process = start_process(
        "run", "--json", *arguments, cwd=project.path, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=stderr,
    )  # fmt: skip
    out, err = process.communicate(timeout=LIMIT_S)
    return Done(process.returncode, out.decode(), (err or b"").decode())


def test_fault_42_what_is_left_behind_in_a_process_changes_neither_its_end_nor_its_code(
    project: Project,
) -> None:
    (project.path / "odd.py").write_text(AGENT)
    given = [case(name, target=f"python:odd:{name}") for name in IN_A_PROCESS]
    stuck = case("to_thread", target="python:odd:to_thread", timeout_s=0.5)
    project.suite(*given, stuck, case("fails", target="echo"))
    done = run_process(project)
    assert (done.code, done.counts()) == (3, {"passed": len(given), "failed": 1, "errored": 1})
    for word in ("written", "by a child", "printed"):
        assert word in done.err


@pytest.mark.parametrize(("expected", "code"), [("ok", 0), ("no", 1)])
def test_fault_42_descriptors_that_are_closed_lose_no_result(
    project: Project, expected: str, code: int
) -> None:
    (project.path / "odd.py").write_text(AGENT.replace("atexit.register(", "# "))
    odd = case("odd", target="python:odd:closes_descriptors", expected_output=expected)
    project.suite(odd, *cases(20))
    done = run_process(project, "--concurrency", "1")
    assert (done.code, done.json["total"]) == (code, 21)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")
@pytest.mark.parametrize(("text", "code"), [("say ok", 0), ("say no", 1), ("raise no", 3)])
def test_fault_42_a_log_that_can_not_be_written_ends_no_run(
    project: Project, text: str, code: int
) -> None:
    project.add_to_agent("print('at import')\n")
    project.suite(*cases(3, text))
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = run_process(project, stderr=full.fileno())
    assert (done.code, done.json["total"]) == (code, 3)
