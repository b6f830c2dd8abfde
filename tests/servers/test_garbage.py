"""Fault 8: what is malformed or cut short is kept, and never counts as an answer."""

import json

from evalcase.types.answer import Failure
from evalcase.types.result import Result
from tests.run.project import Done, Project, case
from tests.servers.aimock import KEY, Aimock
from tests.servers.asking import KEY_NAME, Asked, ask, configure, results
from tests.servers.llmock import Llmock


def failure_of(result: Result) -> Failure:
    """Why it is errored: it has no answer, and nothing was graded."""
    assert (result.verdict, result.answer, result.grades) == ("errored", None, ())
    assert result.failure is not None
    return result.failure


def test_malformed_json_is_errored_and_kept(project: Project, aimock: Aimock, kind: str) -> None:
    aimock.when("say ok", {"content": "ok"}, chaos={"malformedRate": 1})
    assert_malformed(ask(project, aimock, kind, case("c")), aimock)


def assert_malformed(asked: Asked, aimock: Aimock) -> None:
    assert asked.done.code == 3
    failure = failure_of(asked.result)
    assert failure.kind == "protocol"
    assert "{malformed json: <<<chaos>>>" in json.dumps(failure.details)
    assert len(aimock.journal()) == asked.result.attempts


def test_a_connection_that_is_cut_is_tried_again(
    project: Project, aimock: Aimock, kind: str
) -> None:
    cut = {"match": {"sequenceIndex": 0}, "chaos": {"disconnectRate": 1}}
    aimock.when("say ok", {"content": "ok"}, **cut)
    aimock.when("say ok", {"content": "ok"}, match={"sequenceIndex": 1})
    asked = ask(project, aimock, kind, case("c"))
    assert asked.done.code == 0
    assert asked.result.attempts == 2
    assert aimock.statuses() == [0, 200]


# Pieces that come before the second word.
FIRST_WORD = {"openai": 2, "anthropic": 4}


def test_part_of_a_stream_is_no_answer(project: Project, llmock: Llmock, protocol: str) -> None:
    """What came before the fault is just what is expected: whoever takes it lets the case pass."""
    llmock.say("ok or perhaps not")
    for fault, times in (("truncate", 3), ("malformed", 1), ("disconnect", 3)):
        llmock.break_stream(fault, after_chunks=FIRST_WORD[protocol], times=times)
    cases = [case(fault, f"Question {fault}") for fault in ("truncate", "malformed", "disconnect")]
    one_by_one = ("--concurrency", "1")
    asked = ask(project, llmock, protocol, *cases, stream=True, options=one_by_one)
    assert asked.done.code == 3
    kinds = {id: failure_of(result).kind for id, result in asked.results.items()}
    assert kinds == {"truncate": "protocol", "malformed": "protocol", "disconnect": "connection"}
    faults = [request["fault"].split("@")[0] for request in llmock.requests()]
    # What was cut may come whole the next time; what makes no sense would not.
    cut, lost = ["stream:truncate"] * 3, ["stream:disconnect"] * 3
    assert faults == [*cut, "stream:malformed", *lost]


# Keys


HEADERS = {"openai": "authorization", "anthropic": "x-api-key", "http": "authorization"}


def assert_secret(project: Project, done: Done, key: str) -> None:
    """Neither printed nor written, anywhere in the project."""
    assert key not in done.out
    assert key not in done.err
    files = [path for path in project.path.rglob("*") if path.is_file()]
    assert any(path.name == "journal.jsonl" for path in files)
    assert [path for path in files if key.encode() in path.read_bytes()] == []


def test_the_key_arrives_and_is_kept_secret(project: Project, aimock: Aimock, kind: str) -> None:
    """aimock lets nobody in without it; and here says it aloud."""
    aimock.when("say ok", {"content": f"ok, {KEY}"})
    asked = ask(project, aimock, kind, case("c"))
    assert asked.done.counts() == {"failed": 1}
    (entry,) = aimock.journal()
    assert set(HEADERS.values()) & set(entry["headers"]) == {HEADERS[kind]}
    assert_secret(project, asked.done, KEY)


def test_a_wrong_key_is_refused_once_and_kept_secret(
    project: Project, aimock: Aimock, kind: str
) -> None:
    aimock.when("say ok", {"content": "ok"})
    configure(project, aimock, kind)
    project.suite(case("c"))
    wrong = "sk-fake-not-this-one"
    done = project.run("run", "--target", kind, env={KEY_NAME: wrong})
    assert done.code == 3
    result = results(project)["c"]
    assert (result.verdict, result.attempts) == ("errored", 1)
    assert result.failure is not None
    assert result.failure.details["status"] == 401
    assert_secret(project, done, wrong)


def test_nothing_is_asked_without_the_key(project: Project, aimock: Aimock, kind: str) -> None:
    configure(project, aimock, kind)
    project.suite(case("c"))
    done = project.run("run", "--target", kind)
    assert done.code == 2
    assert KEY_NAME in done.err
    assert aimock.journal() == []
