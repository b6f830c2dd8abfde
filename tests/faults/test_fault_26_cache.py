from pathlib import Path

from tests.run.project import CONFIG, Project, case, cases
from tests.targets.server import Reply, serving

COUNTED = """
def counted(question: Question):
    note("calls", question.case)
    if question.case == "broken":
        raise ValueError("no")
    return str(len((HERE / "calls").read_text().split()))
"""


def answers(project: Project, *arguments: str) -> dict[tuple[str, int], str]:
    """The answers of a run, by case and repeat; how many calls there have been by then."""
    from tests.store.rows import read_results

    project.run("run", "--cache", "--concurrency", "1", *arguments)
    journal = project.runs()[-1] / "journal.jsonl"
    return {
        (result.key.case, result.key.repeat): result.answer.text if result.answer else ""
        for result in read_results(str(journal))
    }


def make(project: Project) -> str:
    project.add_to_agent(COUNTED)
    return "python:agent:counted"


def test_fault_26_repeats_never_share_an_answer(project: Project) -> None:
    target = make(project)
    project.suite(case("a", repeat=3))
    first = answers(project, "--target", target)
    assert sorted(first.values()) == ["1", "2", "3"]
    assert answers(project, "--target", target) == first
    assert len(project.calls()) == 3


def test_fault_26_another_question_or_another_target_is_asked(project: Project) -> None:
    target = make(project)
    project.suite(case("a", "one"))
    answers(project, "--target", target)
    project.suite(case("a", "two"))
    answers(project, "--target", target)
    assert len(project.calls()) == 2
    options = (
        '[targets.made]\nkind = "python"\nfunction = "agent:make"\narguments = {version = %d}\n'
    )
    project.add_to_agent("def make(version):\n    return counted\n")
    for version, calls in ((1, 3), (2, 4), (1, 4)):
        project.configure(f"{CONFIG}\n{options % version}")
        answers(project, "--target", "made")
        assert len(project.calls()) == calls


def test_fault_26_a_torn_or_foreign_file_of_the_cache_is_asked_again(project: Project) -> None:
    target = make(project)
    project.suite(*cases(4))
    before = answers(project, "--target", target)
    files = sorted(path for path in cache(project).rglob("*") if path.is_file())
    assert len(files) == 4
    data = files[0].read_bytes()
    files[0].write_bytes(data[: len(data) // 2])
    files[1].write_bytes(b"")
    files[2].write_bytes(data)  # the answer to another question
    after = answers(project, "--target", target)
    assert len(project.calls()) == 7
    assert len({key for key in before if before[key] == after[key]}) == 1
    answers(project, "--target", target)
    assert len(project.calls()) == 7, "they were mended"


def cache(project: Project) -> Path:
    return project.path / ".evalcase" / "cache"


def test_fault_26_another_tenant_never_gets_the_answer_of_the_first(project: Project) -> None:
    names = ["acme-corp-tenant", "other-corp-tenant"]
    with serving(Reply(b"one"), Reply(b"two"), Reply(b"asked again")) as server:
        options = f'kind = "http"\nurl = "{server.url}"\nheader_env = {{X-Tenant = "TENANT"}}\n'
        project.configure(f"[targets.served]\n{options}")
        project.suite(case("a"))
        for name in (*names, *names):
            project.run("run", "--target", "served", "--cache", env={"TENANT": name})
    assert [request.headers["x-tenant"] for request in server.requests] == names
    rows = [row for run in project.runs() for row in project.rows(run)]
    said = [row["answer"]["messages"][0]["content"] for row in rows]
    assert said == ["one", "two", "one", "two"]
    for path in (project.path / ".evalcase").rglob("*"):
        assert not path.is_file() or b"corp-tenant" not in path.read_bytes()


def test_fault_26_an_answer_with_a_secret_in_it_is_not_kept(project: Project) -> None:
    with serving(Reply(b"acme-corp-tenant")) as server:
        options = f'kind = "http"\nurl = "{server.url}"\nheader_env = {{X-Tenant = "TENANT"}}\n'
        project.configure(f"[targets.served]\n{options}")
        project.suite(case("a"))
        for _ in range(2):
            arguments = ("run", "--target", "served", "--cache")
            project.run(*arguments, env={"TENANT": "acme-corp-tenant"})
    assert len(server.requests) == 2
    assert not (project.path / ".evalcase" / "cache").exists()
