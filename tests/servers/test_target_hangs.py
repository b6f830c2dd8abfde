"""Fault 6: a target that hangs is a time-out, which is neither a fail nor a run that hangs."""

from tests.run.project import Project, case
from tests.servers.asking import Asked, ask
from tests.servers.llmock import Llmock

SHORT = ("--timeout", "0.5")


def assert_timed_out(asked: Asked) -> None:
    assert asked.done.code == 3
    assert asked.result.verdict == "errored"
    assert asked.result.attempts == 1
    assert asked.result.failure is not None
    assert asked.result.failure.kind == "timeout"


def test_an_answer_that_is_late_is_a_time_out(project: Project, llmock: Llmock, kind: str) -> None:
    llmock.order({"type": "delay", "seconds": 120})
    assert_timed_out(ask(project, llmock, kind, case("c"), options=SHORT))


def test_a_stream_that_stalls_is_a_time_out(
    project: Project, llmock: Llmock, protocol: str
) -> None:
    llmock.say("ok or perhaps not")
    llmock.break_stream("stall", stall_seconds=120)
    assert_timed_out(ask(project, llmock, protocol, case("c"), stream=True, options=SHORT))
    assert llmock.findings() == []


def test_a_time_out_is_tried_again_where_asked_for(project: Project, llmock: Llmock) -> None:
    llmock.say("ok")
    llmock.order({"type": "delay", "seconds": 120})
    # Long enough for the second attempt, on a machine that is busy, too.
    options = ("--timeout", "3", "--retry-timeouts")
    asked = ask(project, llmock, "openai", case("c"), options=options)
    assert asked.done.code == 0
    assert asked.result.attempts == 2
