from typing import Any

from tests.faults.http_targets import http
from tests.run.project import Project, case, cases
from tests.targets.server import Reply, serving

AGENT = """
import time

def raise_status(status, **more):
    raise TargetError(f"HTTP {status}", kind="http", details={"status": status}, **more)


def server(question: Question):
    note("calls", question.case)
    word, _, rest = question.text.partition(" ")
    calls = calls_of(question.case)
    if word == "busy" and calls < 3:
        raise_status(429, may_succeed_later=True, retry_after_s=0.0, overloaded=True)
    if word == "down":
        raise_status(500, may_succeed_later=True, retry_after_s=0.0)
    if word == "wrong":
        raise_status(401)
    if word == "later":
        times.setdefault(question.case, []).append(time.monotonic())
        if calls == 1:
            raise_status(529, may_succeed_later=True, retry_after_s=0.4, overloaded=True)
        before, now = times[question.case]
        return f"{now - before >= 0.4}"
    return "ok"


times = {}
"""


def run(project: Project, *suite: dict[str, Any], options: tuple[str, ...] = ()) -> Any:
    project.add_to_agent(AGENT)
    project.suite(*suite)
    return project.run("run", "--json", "--target", "python:agent:server", *options)


def rows(project: Project) -> dict[str, Any]:
    return {row["case"]: row for row in project.rows()}


def test_fault_07_what_may_succeed_later_is_tried_again_and_each_try_is_recorded(
    project: Project,
) -> None:
    done = run(project, case("busy", "busy"), *cases(3))
    assert (done.code, done.counts()) == (0, {"passed": 4})
    row = rows(project)["busy"]
    assert row["attempts"] == 3
    assert [each["details"]["status"] for each in row["retried"]] == [429, 429]


def test_fault_07_what_can_not_succeed_later_is_never_tried_again(project: Project) -> None:
    done = run(project, case("wrong", "wrong"), options=("--retries", "9"))
    assert (done.code, project.calls()) == (3, ["wrong"])


def test_fault_07_a_server_that_is_busy_is_asked_again_and_one_that_refuses_is_not(
    project: Project,
) -> None:
    said = {"choices": [{"message": {"role": "assistant", "content": "ok"}}]}
    busy = [Reply.of({}, status, Retry_After="0") for status in (429, 529, 500)]
    with serving(*busy, said) as server:
        env = http(project, server.url)
        project.suite(case("one"))
        run = ("run", "--json", "--target", "served", "--retries", "3")
        assert project.run(*run, env=env).counts() == {"passed": 1}
        assert len(server.requests) == 4
    for status in (400, 401, 404):
        with serving(Reply.of({"error": {"message": "no"}}, status)) as server:
            env = http(project, server.url)
            assert project.run(*run, env=env).counts() == {"errored": 1}
            assert len(server.requests) == 1
