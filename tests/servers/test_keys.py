from __future__ import annotations

from tests.run.project import Done, Project, case
from tests.servers.aimock import KEY, Aimock
from tests.servers.asking import KEY_NAME, ask, configure, results

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
