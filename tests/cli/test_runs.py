"""`evalcase list` and `prune`: the runs there are, and old ones removed."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.run.project import Gate, Project, case, cases


def test_no_runs_yet(project: Project) -> None:
    done = project.run("list")
    said = "no runs yet in .evalcase/runs; `evalcase run` creates one\n"
    assert (done.code, done.out) == (0, said)


def test_the_newest_first_with_what_came_of_each(project: Project) -> None:
    project.suite(case("a"), case("b", "say no"), case("c", "raise x"), case("d", "cost 0.5"))
    first = project.run("run", "--json").json["run"]
    second = project.run("run", "--json", "--target", "other", "--case", "a").json["run"]
    done = project.run("list")
    assert done.code == 0
    lines = [line for line in done.out.splitlines() if first in line or second in line]
    assert [second in lines[0], first in lines[1]] == [True, True]
    told = [first, *"now 4 50.0% 1 1 $0.5000 15.0–85.0% s.eval.yaml agent".split()]
    assert lines[1].split() == told
    told = [second, *"now 1 100.0% 0 0 – – s.eval.yaml other 1 of 4 cases selected".split()]
    assert lines[0].split() == told
    assert "incomplete" not in done.out


def test_an_incomplete_run_is_marked(project: Project, gate: Gate) -> None:
    project.suite(*cases(3))
    process = project.start("run", env={"GATED": "1"})
    gate.await_calls(3)
    process.kill()
    process.communicate()
    done = project.run("list")
    assert done.code == 0
    said = f"incomplete, 0 of 3 trials: evalcase resume {project.runs()[0].name}"
    assert said in done.out
    assert "damaged" not in done.out


def test_damaged_runs_are_marked_and_hide_no_other(project: Project) -> None:
    project.suite(*cases(3))
    for _ in range(3):
        project.run("run", "--quiet")
    first, second, third = project.runs()
    (first / "run.json").write_text("{")
    journal = second / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"passed", b"failed", 1))
    done = project.run("list")
    assert done.code == 0
    lines = {run.name: next(line for line in done.out.splitlines() if run.name in line)
             for run in (first, second, third)}  # fmt: skip
    assert "damaged" in lines[first.name]
    assert "damaged" in lines[second.name]
    assert "damaged" not in lines[third.name]


def test_a_run_of_another_version_is_not_called_damaged(project: Project) -> None:
    project.suite(*cases(1))
    project.run("run", "--quiet")
    (project.runs()[0] / "run.json").write_text('{"version": 1}')
    out = " ".join(project.run("list").out.split())
    assert "damaged" not in out
    assert f"{project.runs()[0].name} written by an older evalcase: its record has version 1" in out


def test_objects_for_programs(project: Project) -> None:
    assert json.loads(project.run("list", "--json").out) == []
    project.suite(case("a"), case("b", "say no"))
    told = project.run("run", "--json").json
    project.run("run", "--quiet")
    second = project.runs()[-1]
    (second / "run.json").write_text("{")
    both = {each["run"]: each for each in json.loads(project.run("list", "--json").out)}
    listed, damaged = both[told["run"]], both[second.name]
    rest = {key: listed.pop(key) for key in ("created_at", "suites", "targets")}
    marks = [listed.pop(key) for key in ("name", "note", "commit", "branch", "dirty")]
    assert (listed, marks) == (told, [None] * 5)
    assert (rest["suites"], rest["targets"]) == (["s.eval.yaml"], ["agent"])
    assert damaged["status"] == "damaged"
    assert "run.json is damaged" in damaged["problem"]


def test_runs_are_chosen_by_suite_and_target(project: Project) -> None:
    project.suite(*cases(1), name="one")
    project.suite(*cases(1), name="two")
    project.run("run", "one.eval.yaml", "--target", "echo")
    project.run("run", "two.eval.yaml")
    for options, suites in (
        (["--suite", "one*"], [["one.eval.yaml"]]), (["--target", "agent"], [["two.eval.yaml"]]),
        (["--suite", "*"], [["two.eval.yaml"], ["one.eval.yaml"]]),
    ):  # fmt: skip
        listed = json.loads(project.run("list", "--json", *options).out)
        assert [each["suites"] for each in listed] == suites
        assert project.run("list", *options).out.count("eval.yaml") == len(suites)


def test_a_filter_that_matches_no_run_is_an_error_that_names_the_nearest(project: Project) -> None:
    project.suite(*cases(1))
    project.run("run", "--target", "echo")
    done = project.run("list", "--target", "ecco")
    assert (done.code, done.out) == (2, "")
    assert "no run has a target `ecco`; did you mean `echo`?" in done.err
    done = project.run("list", "--suite", "s.eval.yml")
    assert "no run has a suite `s.eval.yml`; did you mean `s.eval.yaml`?" in done.err
    assert project.run("list", "--target", "nobody", "--json").out == "[]\n"


def test_runs_are_told_apart_by_name_note_and_commit(project: Project) -> None:
    project.suite(case("a"))
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com"]
    marks = "name", "note", "commit", "branch", "dirty"

    def run(*arguments: str) -> dict[str, object]:
        id = project.run("run", "--json", *arguments).json["run"]
        listed = json.loads(project.run("list", "--json").out)
        assert listed[0]["run"] == id
        return {"run": id} | {mark: listed[0][mark] for mark in marks}

    plain = run()
    assert [plain[mark] for mark in marks] == [None] * 5
    for more in (["init", "-qb", "trunk"], ["add", "s.eval.yaml"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *more], cwd=project.path, check=True)
    first = run("--name", "base line", "--note", "before the change")
    assert (first["name"], first["note"]) == ("base line", "before the change")
    assert (first["branch"], first["dirty"]) == ("trunk", False)
    project.suite(case("a"), case("b"))
    second = run("--name", "base line")
    assert (second["commit"], second["dirty"]) == (first["commit"], True)
    assert run("--no-exec", "--target", "echo")["commit"] is None
    config = project.path / ".git" / "config"
    before = config.read_text()
    config.write_text(f'{before}[filter "x"]\n\tclean = touch started\n')  # a stranger's
    assert run()["commit"] is None
    config.write_text(before)

    commit = str(first["commit"])
    for name in ("base line", commit, commit[:7]):  # the newest of them
        (found,) = json.loads(project.run("list", "--json", name).out)
        assert found["run"] == second["run"]
    told = f"run      base line: before the change, {commit[:7]} on trunk"
    assert told in project.run("report", str(first["run"])).out
    markdown = project.run("report", str(first["run"]), "--format", "markdown").out
    assert f"{commit[:7]} on trunk" in markdown
    assert f"{commit[:7]} on trunk, modified  s.eval.yaml" in project.run("list").out
    unknown = project.run("report", "bse line")
    assert (unknown.code, "the nearest is base line" in unknown.err) == (2, True)
    other = run("--name", str(first["run"])[-6:])
    several = project.run("report", str(other["name"]))
    assert several.code == 2
    said = f"{first['run']}, {other['run']} (name)"
    assert said in " ".join(several.err.split())


# `evalcase prune`: what goes, what stays, and that nothing goes before it was said


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
