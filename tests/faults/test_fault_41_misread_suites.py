import pytest

from tests.run.project import Project

MISREAD = {
    "a word for false as a reason to skip": ("cases:\n- {input: q, skip: no}\n", "bad-value"),
    "text that libyaml would drop": ('cases:\n- input: "Which tag?"#urgent\n', "syntax"),
    "an anchor that would become text": ("cases:\n- input: &a?b hi\n", "syntax"),
}


@pytest.mark.parametrize(("text", "code"), MISREAD.values(), ids=MISREAD)
def test_fault_41_what_would_be_read_as_something_else_is_refused_before_anything_runs(
    project: Project, text: str, code: str
) -> None:
    (project.path / "s.eval.yaml").write_text(text)
    done = project.run("run")
    assert (done.code, project.calls()) == (2, [])
    assert f"error[{code}]" in done.err


def test_fault_41_an_expected_number_that_loses_its_spelling_is_told(project: Project) -> None:
    (project.path / "s.eval.yaml").write_text("cases:\n- {input: q, expected_output: 3.10}\n")
    done = project.run("check")
    assert done.code == 0
    assert "lost-spelling" in done.out
    assert 'write it in quotes: "3.10"' in done.out
