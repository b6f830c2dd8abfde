from __future__ import annotations

import json
from typing import Any

import pytest

from tests.faults.programs import program
from tests.run.project import Project, case, cases

GARBAGE = {
    "half an object": b'{"messages": [{"role": "assi',
    "two objects": b'{"text": "ok"} {"text": "ok"}',
    "a log line first": b'loading\n{"text": "ok"}',
    "no JSON number": b'{"text": "ok", "cost_usd": NaN}',
    "a key twice": b'{"text": "no", "text": "ok"}',
    "nothing": b"",
    "very deep": b"[" * 50_000,
    "bytes": b"\xff\xfe\x00",
}


def failure(project: Project, id: str) -> dict[str, Any]:
    lines = (project.runs()[-1] / "journal.jsonl").read_text().splitlines()
    (row,) = [row for row in map(json.loads, lines) if row.get("case") == id]
    assert (row["verdict"], "answer" in row, "grades" in row) == ("errored", False, False)
    found: dict[str, Any] = row["failure"]
    return found


@pytest.mark.parametrize("written", GARBAGE.values(), ids=GARBAGE)
def test_fault_08_output_that_is_no_json_is_an_error_with_what_came_and_no_answer(
    project: Project, written: bytes
) -> None:
    code = f"import sys\nsys.stdout.buffer.write({written!r})"
    name = program(project, code, output="json")
    project.suite(case("odd"))
    done = project.run("run", "--json", "--target", name)
    assert (done.code, done.counts()) == (3, {"errored": 1})
    why = failure(project, "odd")
    assert (why["kind"], "JSON" in why["message"]) == ("protocol", True)
    assert why["details"]["output"] == written.decode(errors="backslashreplace")[:1000]


REPLIES = {
    "a log line": "print('loading', flush=True)",
    "half a line, and the end": "sys.stdout.write('{\"id\": ')\nsys.stdout.flush()\nos._exit(0)",
    "the answer of another case": "say({'id': 'other', 'answer': 'ok'})",
    "neither answer nor error": "say({'id': 'odd'})",
    "both": "say({'id': 'odd', 'answer': 'ok', 'error': 'no'})",
    "no object": "say(['ok'])",
    "invalid UTF-8": "sys.stdout.buffer.write(b'\\xff\\n')\nsys.stdout.flush()",
    "null": "say({'id': 'odd', 'answer': None})",
    "a crash": "raise ValueError('out of paper')",
}

WORKER = """
import json, os, sys

def say(reply):
    print(json.dumps(reply), flush=True)

def odd():
{code}

for line in sys.stdin:
    id = json.loads(line)["id"]
    odd() if id == "odd" else say({{"id": id, "answer": "ok"}})
"""


@pytest.mark.parametrize("code", REPLIES.values(), ids=REPLIES)
def test_fault_08_a_worker_that_replies_with_garbage_costs_one_trial_only(
    project: Project, code: str
) -> None:
    lines = "\n".join(f"    {line}" for line in code.splitlines())
    name = program(project, WORKER.format(code=lines), mode="worker")
    project.suite(case("a"), case("odd"), *cases(3))
    done = project.run("run", "--json", "--target", name)
    assert (done.code, done.counts()) == (3, {"passed": 4, "errored": 1})
    assert failure(project, "odd")["kind"] in ("protocol", "exit")


def test_fault_08_text_that_only_begins_like_an_answer_is_text_and_graded_as_such(
    project: Project,
) -> None:
    name = program(project, """print('{"text": "ok"')""")
    project.suite(case("odd"))
    assert project.run("run", "--json", "--target", name).counts() == {"failed": 1}


def test_fault_08_a_program_that_fails_after_a_good_answer_has_given_none(
    project: Project,
) -> None:
    name = program(project, "import sys\nprint('ok')\nsys.exit('no more ink')")
    project.suite(case("odd"))
    assert project.run("run", "--json", "--target", name).counts() == {"errored": 1}
    why = failure(project, "odd")
    assert why["details"] == {"exit_code": 1, "stderr": "no more ink\n", "stdout": "ok\n"}


@pytest.mark.parametrize(
    "value", ["None", "object()", "{1: 2}", "float('nan')", "[{'role': 'assistant'}]", "b'ok'"]
)
def test_fault_08_what_a_function_returns_and_is_no_answer_is_an_error(
    project: Project, value: str
) -> None:
    project.add_to_agent(f"def odd(case):\n    return {value}\n")
    project.suite(case("odd"))
    done = project.run("run", "--json", "--target", "python:agent:odd")
    assert done.counts() == {"errored": 1}
    assert failure(project, "odd")["kind"] == "protocol"
