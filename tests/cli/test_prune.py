"""`evalcase prune`: what goes, what stays, and that nothing goes before it was said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.run.project import Gate, Project, case, cases


@pytest.fixture
def kept(project: Project) -> list[str]:
    """Four runs of four days, the oldest first."""
    project.suite(case("a"))
    project.run("run", "--quiet")
    made = project.runs()[0]
    names = [f"2026010{day}-090000-00000{day}" for day in (1, 2, 3, 4)]
    for name in names:
        copy = made.parent / name
        shutil.copytree(made, copy)
        about = copy / "run.json"
        about.write_text(about.read_text().replace(made.name, name))
    shutil.rmtree(made)
    return names


def names_of(project: Project) -> list[str]:
    return sorted(path.name for path in project.runs())


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".started")


def test_it_says_first_what_it_would_do(project: Project, kept: list[str]) -> None:
    done = project.run("prune", "--keep", "3")
    assert done.code == 0
    first, last = done.out.splitlines()
    assert (first.split()[0], first.split()[-1]) == (kept[0], "completed")
    assert last.split(", ")[0] == "1 run"
    assert last.endswith("would be removed; add --yes to remove them")
    assert names_of(project) == kept


def test_what_is_not_older_stays(project: Project, kept: list[str]) -> None:
    project.run("run", "--quiet")
    done = project.run("prune", "--older-than", "1h", "--yes")
    assert done.code == 0
    (left,) = names_of(project)
    assert left not in kept
    assert project.run("prune", "--older-than", "1h").out == "nothing to remove\n"


def test_a_run_that_can_be_gone_on_with_stays(project: Project, kept: list[str]) -> None:
    journal = project.runs()[0].parent / kept[0] / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    done = project.run("prune", "--keep", "2", "--yes")
    (stays,) = (line for line in done.out.splitlines() if kept[0] in line)
    assert stays.endswith("kept: it is not complete")
    assert names_of(project) == [kept[0], *kept[2:]]
    project.run("prune", "--keep", "2", "--incomplete", "--yes")
    assert names_of(project) == kept[2:]


def test_what_cannot_be_read_and_what_is_a_link_stays(
    project: Project, kept: list[str], tmp_path: Path
) -> None:
    runs = project.runs()[0].parent
    (runs / kept[0] / "run.json").write_text("{")
    elsewhere = tmp_path / "elsewhere"
    shutil.move(runs / kept[1], elsewhere)
    (runs / kept[1]).symlink_to(elsewhere)
    done = json.loads(project.run("prune", "--keep", "0", "--yes", "--json").out)
    assert {each["run"]: each["because"] for each in done["stays"]} == {
        kept[0]: "it can't be read",
        kept[1]: "it is a link",
    }
    assert sorted(done["removed"]) == kept[2:]
    assert (elsewhere / "journal.jsonl").exists()


def test_a_run_that_is_being_written_stays(project: Project, gate: Gate) -> None:
    project.suite(*cases(2))
    process = project.start("run", env={"GATED": "1"})
    gate.await_calls(2)
    done = project.run("prune", "--keep", "0", "--incomplete", "--yes")
    assert (done.code, len(project.runs())) == (3, 1)
    assert f"is being written by process {process.pid}" in done.err
    gate.let_go(2)
    process.communicate()
    assert process.returncode == 0
    assert project.runs()[0].name in names_in(project.runs()[0].parent)


def test_the_rest_of_an_interrupted_removal_is_swept_away(
    project: Project, kept: list[str]
) -> None:
    runs = project.runs()[0].parent
    (runs / kept[0]).rename(runs / f".pruned-{kept[0]}")
    assert kept[0] not in project.run("list").out
    project.run("prune", "--keep", "9", "--yes")
    assert names_in(runs) == kept[1:]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say what to keep"),
        (["--older-than", "30"], "write it as 30d"),
        (["--older-than", "d"], "write it as 30d"),
        (["--keep", "-1"], "keep"),
    ],
)
def test_wrong_usage_removes_nothing(
    project: Project, kept: list[str], arguments: list[str], said: str
) -> None:
    done = project.run("prune", "--yes", *arguments)
    assert (done.code, names_of(project)) == (2, kept)
    assert said in done.err
