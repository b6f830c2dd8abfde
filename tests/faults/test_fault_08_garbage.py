from typing import Any

from tests.faults.http_targets import http
from tests.faults.programs import program
from tests.run.project import Project, case
from tests.targets.server import Reply, serving

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
    (row,) = [row for row in project.rows() if row["case"] == id]
    assert (row["verdict"], "answer" in row, "grades" in row) == ("errored", False, False)
    found: dict[str, Any] = row["failure"]
    return found


def test_fault_08_output_that_is_no_json_is_an_error_with_what_came_and_no_answer(
    project: Project,
) -> None:
    write = "sys.stdout.buffer.write(GARBAGE[json.load(sys.stdin)['id']])"
    code = f"import json, sys\nGARBAGE = {GARBAGE!r}\n{write}\n"
    name = program(project, code, output="json")
    project.suite(*[case(id) for id in GARBAGE])
    done = project.run("run", "--json", "--target", name)
    assert (done.code, done.counts()) == (3, {"errored": len(GARBAGE)})
    for id, written in GARBAGE.items():
        why = failure(project, id)
        assert (why["kind"], "JSON" in why["message"]) == ("protocol", True)
        assert why["details"]["output"] == written.decode(errors="backslashreplace")[:1000]


REPLIES = {
    "a log line": "print('loading', flush=True)",
    "half a line, and the end": "sys.stdout.write('{\"id\": '); sys.stdout.flush(); os._exit(0)",
    "the answer of another case": "say({'id': 'other', 'answer': 'ok'})",
    "neither answer nor error": "say({'id': id})",
    "both": "say({'id': id, 'answer': 'ok', 'error': 'no'})",
    "no object": "say(['ok'])",
    "invalid UTF-8": "sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()",
    "null": "say({'id': id, 'answer': None})",
    "a crash": "raise ValueError('out of paper')",
}

WORKER = """
import json, os, sys

def say(reply):
    print(json.dumps(reply), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    id = asked["id"]
    exec(REPLIES.get(asked["case"], "say({'id': id, 'answer': 'ok'})"))
"""


def test_fault_08_a_worker_that_replies_with_garbage_costs_one_trial_only(
    project: Project,
) -> None:
    name = program(project, f"REPLIES = {REPLIES!r}\n{WORKER}", mode="worker")
    between = [[case(f"good {number}"), case(id)] for number, id in enumerate(REPLIES)]
    project.suite(*[each for pair in between for each in pair], case("last"))
    done = project.run("run", "--json", "--target", name)
    assert (done.code, done.counts()) == (3, {"passed": 10, "errored": 9})
    for id in REPLIES:
        assert failure(project, id)["kind"] in ("protocol", "exit")


def test_fault_08_text_that_only_begins_like_an_answer_is_text_and_graded_as_such(
    project: Project,
) -> None:
    name = program(project, """print('{"text": "ok"')""")
    project.suite(case("odd"))
    assert project.run("run", "--json", "--target", name).counts() == {"failed": 1}


def test_fault_08_what_a_function_returns_and_is_no_answer_is_an_error(project: Project) -> None:
    values = ("None", "object()", "{1: 2}", "float('nan')", "[{'role': 'assistant'}]", "b'ok'")
    project.add_to_agent("def odd(question: Question):\n    return eval(question.case)\n")
    project.suite(*[case(value) for value in values])
    done = project.run("run", "--json", "--target", "python:agent:odd")
    assert done.counts() == {"errored": len(values)}
    for value in values:
        assert failure(project, value)["kind"] == "protocol"


def test_fault_08_a_reply_that_is_cut_off_or_malformed_is_no_answer(project: Project) -> None:
    whole = b'{"choices": [{"message": {"role": "assistant", "content": "ok"}}]}'
    json_type = {"Content-Type": "application/json"}
    for reply in (
        Reply(whole, headers=json_type, cut=len(whole) - 20),
        Reply(whole[:-5], headers=json_type),
        Reply(b"<html>busy</html>", headers={"Content-Type": "text/html"}),
        Reply(raw=b"SSH-2.0-OpenSSH\r\n"),
    ):
        with serving(reply) as server:
            env = http(project, server.url)
            project.suite(case("odd"))
            done = project.run("run", "--json", "--target", "served", "--retries", "0", env=env)
        assert (done.code, done.counts()) == (3, {"errored": 1})
        assert failure(project, "odd")["kind"] in ("protocol", "connection", "http")
