from __future__ import annotations

from pathlib import Path

from tests.run.project import CONFIG, Project, case, cases

COUNTED = """
def counted(question: Question):
    note("calls", question.case)
    if question.case == "broken":
        raise ValueError("no")
    return str(len((HERE / "calls").read_text().split()))
"""


def answers(project: Project, *arguments: str) -> dict[tuple[str, int], str]:
    """The answers of a run, by case and repeat; how many calls there have been by then."""
    from evalcase.record.reader import read_results

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


def test_fault_26_errors_are_never_cached(project: Project) -> None:
    target = make(project)
    project.suite(case("broken"))
    for count in (1, 2):
        answers(project, "--target", target)
        assert project.calls() == ["broken"] * count


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


def test_fault_26_nothing_is_cached_unless_asked(project: Project) -> None:
    target = make(project)
    project.suite(case("a"))
    project.run("run", "--target", target)
    assert not cache(project).exists()
    answers(project, "--target", target)
    project.run("run", "--target", target)
    assert len(project.calls()) == 3


def cache(project: Project) -> Path:
    return project.path / ".evalcase" / "cache"
