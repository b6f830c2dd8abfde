from __future__ import annotations

from pathlib import Path

from evalcase.config.registry import find_class, list_names
from evalcase.graders.base import declared_grader
from tests.cli.in_process import run_in_process
from tests.run.project import Project


def test_every_grader_is_listed_with_when_it_passes(project: Project) -> None:
    done = project.run("graders")
    assert done.code == 0
    listed = [line.split()[0] for line in done.out.partition("\n\n")[0].split("\n")
              if not line.startswith(" ")]  # fmt: skip
    assert listed == list_names("graders")
    of_all, of_most = done.out.partition("options of all graders\n")[2].split("\n\n")
    assert [row.split()[0] for row in of_all.splitlines() if row[2] != " "] == [
        "name", "weight", "required", "indicator", "timeout_s", "not",
    ]  # fmt: skip
    assert of_most.startswith("options of most graders (")
    assert [row.split()[0] for row in of_most.splitlines()[1:] if row[2] != " "] == [
        "threshold", "path", "ignore_case", "ignore_space",
    ]  # fmt: skip


def test_the_options_of_all_graders_are_taken_by_all() -> None:
    of_all = {"name", "weight", "required", "indicator", "timeout_s", "not"}
    for name in list_names("graders"):
        assert of_all <= declared_grader(find_class("graders", name)).options.keys(), name


def test_one_is_explained_by_what_it_declares(project: Project) -> None:
    done = project.run("graders", "length")
    assert done.code == 0
    assert done.out.startswith(
        "length: Limits the length of the answer, in characters, words or lines."
    )
    assert "  - length: {max: 50, unit: words}\n" in done.out
    for option in ("min", "max", "unit"):
        assert f"\n  {option} " in done.out
    further = "ignore_case, ignore_space, threshold, path, those of all graders"
    assert " ".join(done.out.split()).endswith(f"further options: {further}")


def test_what_a_grader_needs_is_told_with_its_own_options(project: Project) -> None:
    for name in list_names("graders"):
        declared = declared_grader(find_class("graders", name))
        needed = [each.name for each in declared.options.values() if each.needed]
        own, others = project.run("graders", name).out.split("\nfurther options: ")
        told = " ".join(own.split())
        for each in needed:
            assert f" {each} " in told
            assert each not in " ".join(others.split()).split(", ")
        assert told.count("needed") >= len(needed), name


def test_options_within_options_are_shown(project: Project) -> None:
    out = project.run("graders", "fields").out
    assert "options within `value`\n  equals " in out
    assert "options within `tools`\n  arguments " in project.run("graders", "trajectory").out


def test_a_ready_rubric_is_printed_as_it_stands(project: Project) -> None:
    from evalcase.graders.rubrics import RUBRIC_NAMES, rubric_text

    for name in RUBRIC_NAMES:
        assert project.run("graders", name).out == rubric_text(name)


def test_a_name_that_nobody_knows_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    done = run_in_process(["graders", "filds"], cwd=tmp_path, env={})
    assert (done.code, done.stdout) == (2, b"")
    assert done.stderr == b"evalcase: there is no grader kind `filds`: did you mean `fields`?\n"
