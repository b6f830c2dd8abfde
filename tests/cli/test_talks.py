"""Conversations with whoever runs elsewhere: programs, workers and services know which session and
turn it is, and those that remember are asked by nobody else in between."""

import json
import sys
from typing import Any

import pytest

from tests.run.project import Project
from tests.targets.server import Reply, serving

# Remembers what was said in each session, in files where it is started anew each time.
PROGRAM = """
import json, sys
from pathlib import Path

given = json.load(sys.stdin)
assert [given["session"], str(given["turn"])] == sys.argv[1:]
memory = Path("memory-" + given["session"])
said = (memory.read_text() if memory.exists() else "") + given["input"][-1]["content"]
memory.write_text(said)
print(said)
"""
WORKER = """
import json, os, sys

memory = {}
for line in sys.stdin:
    asked = json.loads(line)
    session = asked["session"]
    said = memory[session] = memory.get(session, "") + asked["input"][-1]["content"]
    assert len(said) == asked["turn"]
    print(json.dumps({"id": asked["id"], "answer": said}), flush=True)
"""
CONFIG = {
    "command": {"command": ["PYTHON", "-S", "program.py", "{session}", "{turn}"]},
    "worker": {"command": ["PYTHON", "-S", "worker.py"], "mode": "worker", "stateless": False},
}


def talk(id: str) -> dict[str, Any]:
    """One that only who remembers its earlier turns can pass."""
    said = [{"input": each, "expected_output": "abc"[: n + 1]} for n, each in enumerate("abc")]
    return {"id": id, "turns": said}


@pytest.mark.parametrize("name", CONFIG)
def test_a_program_that_remembers_is_told_session_and_turn(project: Project, name: str) -> None:
    (project.path / "program.py").write_text(PROGRAM)
    (project.path / "worker.py").write_text(WORKER)
    options = json.loads(json.dumps(CONFIG[name]).replace("PYTHON", sys.executable))
    lines = [f"{key} = {json.dumps(value)}" for key, value in options.items()]
    project.configure("\n".join(['[targets.it]\nkind = "command"\nconcurrency = 2', *lines]))
    project.suite(*[talk(f"t{number}") for number in range(4)])
    done = project.run("run", "--target", "it", "--json")
    assert (done.code, done.json["passed"]) == (0, 4), done.err


def test_a_service_that_remembers_has_the_whole_conversation_again(project: Project) -> None:
    whole = [Reply.of({"text": "abc"[: n + 1]}) for n in range(3)]
    busy = Reply.of("busy", status=503, **{"Retry-After": "0"})
    with serving(whole[0], busy, *whole) as server:
        project.configure(
            f'[targets.it]\nkind = "http"\nurl = "{server.url}"\nanswer = "text"\n'
            '[targets.it.body]\nwhere = "{session}"\nwhat = "{prompt}"\n'
        )
        project.suite(talk("t"))
        done = project.run("run", "--target", "it", "--json")
    assert (done.code, done.json["passed"]) == (0, 1), done.err
    assert [request.json["what"] for request in server.requests] == ["a", "b", "a", "b", "c"]
    first, second = dict.fromkeys(request.json["where"] for request in server.requests)
    assert first != second
