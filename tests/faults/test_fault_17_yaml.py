import pytest

from tests.run.project import Project

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 10)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)

ODD = {
    "an alias bomb": (f"{BOMB}cases: [{{input: *i}}]", "alias-bomb"),
    "deep lists": ("cases: " + "[" * 200_000, "too-deep"),
    "deep mappings": ("cases: " + "{a: " * 100_000, "too-deep"),
    "an alias of itself": ("cases: &a [*a]", "bad-alias"),
    "a key twice": ("cases:\n- {input: a, input: b}", "duplicate-key"),
    "a Python tag": ("cases: !!python/object/apply:os.system [touch pwned]", "bad-tag"),
}


@pytest.mark.parametrize(("text", "code"), ODD.values(), ids=ODD)
def test_fault_17_a_hostile_file_is_refused_with_its_place_before_anything_runs(
    project: Project, text: str, code: str
) -> None:
    (project.path / "s.eval.yaml").write_text(text)
    done = project.run("run")
    assert (done.code, project.calls()) == (2, [])
    assert f"error[{code}]" in done.err
    assert not (project.path / "pwned").exists()


def test_fault_17_words_that_old_yaml_would_read_as_something_else_stay_words(
    project: Project,
) -> None:
    words = ("no", "on", "1:30", "2024-01-01", "0b11", "1_000")
    lines = [f"- {{id: w{word}, input: say {word}, expected_output: {word}}}" for word in words]
    (project.path / "s.eval.yaml").write_text("\n".join(["cases:", *lines]))
    assert project.run("run", "--json").counts() == {"passed": len(words)}
