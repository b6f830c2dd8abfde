"""Fault 7: Retry-After is honoured, attempts are counted, and what can't help is not repeated."""

from tests.run.project import Project, case
from tests.servers.asking import ask
from tests.servers.llmock import Llmock


def test_what_may_succeed_later_is_asked_again(project: Project, llmock: Llmock, kind: str) -> None:
    llmock.say("ok")
    llmock.fail(429, retry_after=1)
    for status in (408, 500, 503, 529):
        llmock.fail(status)
    cases = [case(f"c{number}", f"Question {number}") for number in range(5)]
    asked = ask(project, llmock, kind, *cases)
    assert asked.done.code == 0
    assert {result.attempts for result in asked.results.values()} == {2}
    assert sorted(llmock.statuses()) == [200] * 5 + [408, 429, 500, 503, 529]
    assert llmock.findings() == []


def test_what_fails_every_time_is_errored_and_says_how(
    project: Project, llmock: Llmock, kind: str
) -> None:
    llmock.fail(500, times=None, message="the moon is full")
    asked = ask(project, llmock, kind, case("c"))
    assert asked.done.code == 3
    assert llmock.statuses() == [500, 500, 500]
    result = asked.result
    assert (result.verdict, result.attempts, result.answer) == ("errored", 3, None)
    assert result.grades == ()
    assert result.failure is not None
    assert result.failure.kind == "http"
    assert "500" in result.failure.message
    assert result.failure.details["status"] == 500
    assert "the moon is full" in str(result.failure.details["body"])
    assert "retry_after_ignored" not in str(llmock.findings())


def test_what_can_never_succeed_is_asked_once(project: Project, llmock: Llmock, kind: str) -> None:
    refusals = [400, 401, 403, 404, 422]
    for status in refusals:
        llmock.fail(status, message=f"no: {status}")
    cases = [case(f"c{status}", f"Question {status}") for status in refusals]
    asked = ask(project, llmock, kind, *cases, options=("--concurrency", "1"))
    assert asked.done.code == 3
    assert llmock.statuses() == refusals
    assert llmock.findings() == []
    for status in refusals:
        result = asked.results[f"c{status}"]
        assert (result.verdict, result.attempts) == ("errored", 1)
        assert result.failure is not None
        assert result.failure.details["status"] == status
        assert f"no: {status}" in str(result.failure.details["body"])
