from __future__ import annotations

from tests.run.project import Project, case
from tests.servers.asking import configure, run
from tests.servers.llmock import Llmock
from tests.servers.server import request

MANY = ("--concurrency", "20", "--retries", "5")


def ask_twice(llmock: Llmock, protocol: str) -> None:
    """What a bad client does: try again at once, whatever it was told."""
    paths = {"openai": "/v1/chat/completions", "anthropic": "/anthropic/v1/messages"}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    for _ in range(2):
        request("POST", llmock.url + paths[protocol], body)


def test_a_client_that_ignores_retry_after_is_found_out(llmock: Llmock, protocol: str) -> None:
    llmock.fail(429, retry_after=1)
    ask_twice(llmock, protocol)
    assert [finding.split(":")[0] for finding in llmock.findings()] == ["retry_after_ignored"]


def test_a_client_that_repeats_a_bad_request_is_found_out(llmock: Llmock, protocol: str) -> None:
    llmock.fail(400)
    ask_twice(llmock, protocol)
    assert [finding.split(":")[0] for finding in llmock.findings()] == ["retried_non_retryable"]


def test_a_client_that_gives_up_at_once_is_found_out(llmock: Llmock) -> None:
    llmock.fail(503, times=2)
    request("POST", f"{llmock.url}/v1/chat/completions", {"model": "m", "messages": []})
    assert [finding.split(":")[0] for finding in llmock.findings()] == ["gave_up"]


def test_many_at_once_behave(project: Project, llmock: Llmock) -> None:
    """The gate: what llmock has to complain of, of whatever kind, fails this test."""
    llmock.say("ok")
    for protocol in ("openai", "anthropic"):
        # More than are under way at once, so that some are refused again.
        llmock.fail(429, times=12, retry_after=0.5, match={"provider": protocol})
        llmock.fail(529, times=3, retry_after=0.5, match={"provider": protocol})
    configure(project, llmock, "openai", "anthropic")
    project.suite(*(case(f"c{number}", f"Question {number}") for number in range(40)))
    done = run(project, "openai", "anthropic", options=MANY).done
    assert done.code == 0
    assert done.counts() == {"passed": 80}
    verdict = llmock.verdict()
    assert (verdict["calls"], verdict["attempts"], verdict["faults_injected"]) == (80, 110, 30)
    assert llmock.findings() == []
