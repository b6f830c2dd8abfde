from __future__ import annotations

from tests.run.project import Project, case
from tests.servers.asking import configure, run
from tests.servers.llmock import Llmock

MANY = ("--concurrency", "20", "--retries", "5")


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
