import json
import shutil
from pathlib import Path

import pytest

from evalcase.store.folder import RUN_ID
from tests.run.project import Done, Project, case, cases, ids

COUNT = 12


@pytest.fixture
def suite(project: Project) -> Project:
    project.suite(*cases(COUNT - 1), case("bad", "say no"))
    return project


def run_shard(project: Project, number: int, of: int = 3, *options: str) -> Path:
    shard = ["--shard", f"{number}/{of}", "--runs-dir", "shards"]
    done = project.run("run", *shard, "--json", *options)
    return Path(str(done.json["path"]))


def run_shards(project: Project, of: int = 3, *options: str) -> list[Path]:
    return [run_shard(project, number, of, *options) for number in range(1, of + 1)]


def merge(project: Project, *arguments: str) -> Done:
    return project.run("merge", *arguments)


def merged_run(project: Project) -> Path:
    (run,) = (project.path / ".evalcase" / "runs").iterdir()
    assert RUN_ID.fullmatch(run.name)
    return run


def test_shards_become_one_run_like_any_other(suite: Project) -> None:
    run_shards(suite)
    done = merge(suite, "shards")
    assert done.code == 1
    assert f"{COUNT - 1} passed, 1 failed" in done.out
    whole = json.loads(suite.run("report", "--format", "json").out)
    assert (whole["status"], whole["total"], whole["failed"]) == ("completed", COUNT, 1)
    assert {each["case"] for each in whole["cases"]} == {"bad", *ids(cases(COUNT - 1))}
    assert suite.run("resume", "latest").code == 1
    assert len(suite.calls()) == COUNT


def test_the_record_says_where_it_comes_from_and_the_shards_stay(suite: Project) -> None:
    runs = run_shards(suite)
    merge(suite, *map(str, runs))
    about = json.loads((merged_run(suite) / "run.json").read_text())["about"]
    assert about["merged"] == [run.name for run in runs]
    assert all(run.is_dir() for run in runs)


def test_empty_shards_are_shards(project: Project) -> None:
    project.suite(*cases(1))
    run_shards(project)
    assert merge(project, "shards").code == 0


# What doesn't belong together.


def refuse(project: Project, code: int, said: str, *options: str) -> None:
    done = merge(project, "shards", *options)
    assert (done.code, done.out) == (code, ""), done
    assert said in done.err
    assert not list((project.path / ".evalcase").glob("runs/*"))


def test_a_missing_shard_is_named(suite: Project) -> None:
    runs = run_shards(suite)
    shutil.rmtree(runs[1])
    refuse(suite, 3, "shard 2/3 is missing")


def test_a_shard_that_is_there_twice_is_refused(suite: Project) -> None:
    runs = [*run_shards(suite), run_shard(suite, 2)]
    refuse(suite, 2, f"shard 2/3 is there twice: {runs[1].name} and {runs[3].name}")


def test_a_folder_without_runs_is_named(suite: Project) -> None:
    (suite.path / "shards").mkdir()
    refuse(suite, 2, "the folder shards has no runs")


def test_a_run_that_is_no_shard_is_refused(suite: Project) -> None:
    run_shards(suite)
    other = suite.run("run", "--runs-dir", "shards", "--json").json["run"]
    refuse(suite, 2, f"{other} is not a shard")


def test_shards_of_another_number_are_refused(suite: Project) -> None:
    run_shard(suite, 1, 3)
    run_shard(suite, 2, 2)
    refuse(suite, 2, "one of 2")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--repeat", "2"], "options.repeat"), (["--target", "other"], "options.targets"),
        (["--case", "c*"], "options.selection.cases"), (["--seed", "4"], "options.selection.seed"),
        (["--timeout", "5"], "options.timeout_s"),
    ],
)  # fmt: skip
def test_shards_of_different_runs_are_refused_with_the_field(
    suite: Project, options: list[str], field: str
) -> None:
    run_shard(suite, 1, 2)
    run_shard(suite, 2, 2, *options)
    refuse(suite, 2, f"differ in {field}: ")


def test_a_suite_that_was_edited_in_between_is_refused(suite: Project) -> None:
    run_shard(suite, 1, 2)
    suite.suite(*cases(COUNT))
    run_shard(suite, 2, 2)
    refuse(suite, 2, "differ in suite s.eval.yaml: it was changed in between")


@pytest.mark.parametrize(
    "later", ["id,q\nr1,a\nr2,b\nr3,c\nr4,d\n", "id,q\nr1,A\nr2,B\nr3,C\nr4,D\nx4,E\n"]
)
def test_rows_that_were_edited_in_between_are_refused(project: Project, later: str) -> None:
    rows = project.path / "rows.csv"
    rows.write_text("id,q\nr1,a\nr2,b\nr3,c\nr4,d\nx4,e\n")
    asked = {"id": "c", "rows": "rows.csv", "input": "say {{q}}", "expected_output": "{{q}}"}
    project.suite(asked)
    run_shard(project, 1, 2)
    before = rows.read_text()
    rows.write_text(later)
    second = run_shard(project, 2, 2)
    done = merge(project, "shards")
    assert done.code == 2
    assert "differ in the cases that were dealt" in done.err
    shutil.rmtree(second)
    rows.write_text(before)
    run_shard(project, 2, 2)
    assert merge(project, "shards").code == 0


def test_a_target_that_was_edited_in_between_is_refused(suite: Project) -> None:
    run_shard(suite, 1, 2)
    suite.add_to_agent("\nNEW = 1\n")
    run_shard(suite, 2, 2)
    refuse(suite, 2, "differ in the code or options of target `agent`")


def test_a_case_in_the_wrong_shard_is_refused(suite: Project) -> None:
    first, second = run_shards(suite, 2)
    for run, number in ((first, 2), (second, 1)):
        about = json.loads((run / "run.json").read_text())
        about["about"]["options"]["selection"]["shard"]["number"] = number
        (run / "run.json").write_text(json.dumps(about))
    refuse(suite, 2, "which belongs to another shard")


def test_other_versions_are_a_warning(suite: Project) -> None:
    first, _ = run_shards(suite, 2)
    about = json.loads((first / "run.json").read_text())
    about["about"]["python"] = "3.99.0"
    (first / "run.json").write_text(json.dumps(about))
    done = merge(suite, "shards")
    assert done.code == 1
    assert "different versions of python: " in done.err


# A part of it.


def test_a_partial_merge_is_not_complete_and_resume_does_the_rest(suite: Project) -> None:
    runs = run_shards(suite)
    missing = suite.verdicts(runs[1])
    shutil.rmtree(runs[1])
    done = merge(suite, "shards", "--partial")
    assert done.code == 3
    assert "shard 2/3 is missing" in done.out
    suite.forget_calls()
    assert suite.run("resume").code == 1
    assert sorted(suite.calls()) == sorted(missing)
    assert len(suite.verdicts(merged_run(suite))) == COUNT


def test_an_incomplete_shard_is_named_and_can_be_merged_in_part(suite: Project) -> None:
    runs = run_shards(suite)
    journal = runs[0] / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:2]))
    refuse(suite, 3, f"shard 1/3 ({runs[0].name}) is not complete")
    assert merge(suite, "shards", "--partial").code == 3
    suite.forget_calls()
    suite.run("resume")
    assert len(suite.calls()) == (len(lines) - 1) // 2 - 1


def test_what_a_stranger_made_is_not_ones_own_after_a_merge(suite: Project) -> None:
    runs = run_shards(suite)
    about = json.loads((runs[0] / "run.json").read_text())
    about["seal"] = "0" * 64
    (runs[0] / "run.json").write_text(json.dumps(about))
    shutil.rmtree(runs[2])
    done = merge(suite, "shards", "--partial")
    assert "evalcase resume" not in done.out  # it would be refused
    assert "seal" not in json.loads((merged_run(suite) / "run.json").read_text())
    suite.forget_calls()
    done = suite.run("resume", "latest")
    assert (done.code, suite.calls()) == (2, [])
    assert "--trust" in done.err


def test_a_damaged_shard_is_an_error_and_leaves_nothing_behind(suite: Project) -> None:
    runs = run_shards(suite)
    journal = runs[2] / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"passed", b"failed", 1))
    refuse(suite, 3, "damaged")


def test_repeats_and_several_targets_are_merged(suite: Project) -> None:
    options = ["--repeat", "2", "--target", "agent", "--target", "echo"]
    run_shards(suite, 2, *options)
    merged = merge(suite, "shards", "--json").json
    assert merged["trials"]["total"] == 4 * COUNT
    assert merged["total"] == 2 * COUNT


# What they were graded by.


LENGTH = "length: {max: 9}"


def grade(project: Project, run: Path, *options: str) -> Done:
    return project.run("grade", str(run), "--runs-dir", "shards", *options)


def resume(project: Project, run: Path) -> Done:
    return project.run("resume", str(run), "--runs-dir", "shards")


def test_newest_gradings_are_what_is_merged_and_it_says_where_they_come_from(
    suite: Project,
) -> None:
    runs = run_shards(suite, 2)
    for run in runs:
        grade(suite, run, "--grader", LENGTH)
    done = merge(suite, "shards")
    assert done.code == 0
    assert f"grading  1 of 1, by --grader {LENGTH}" in done.out
    merged = json.loads(suite.run("report", "--format", "json").out)
    assert merged["grading"]["graders"] == [LENGTH]
    about = json.loads((merged_run(suite) / "run.json").read_text())["about"]
    assert about["merged"] == [f"{run.name}@2" for run in runs]
    # What the suites say then is another grading beside it.
    assert suite.run("resume", "latest").code == 1
    assert f"1 of 2, by --grader {LENGTH}" in suite.run("report", "latest@1").out


def test_shards_that_were_graded_by_different_graders_are_refused(suite: Project) -> None:
    first, second = run_shards(suite, 2)
    grade(suite, first, "--grader", LENGTH)
    told = f"differ in what they were graded by: --grader {LENGTH} and the suites; grade all"
    refuse(suite, 2, told)
    grade(suite, second, "--grader", "length: {max: 1}")
    refuse(suite, 2, "differ in what they were graded by")
    assert merge(suite, f"shards/{first.name}@1", f"shards/{second.name}@1").code == 1
    about = json.loads((merged_run(suite) / "run.json").read_text())["about"]
    assert about["merged"] == [f"{first.name}@1", f"{second.name}@1"]


def test_a_shard_whose_grading_was_broken_off_is_not_complete(suite: Project) -> None:
    shards = run_shards(suite)
    for shard in shards:
        grade(suite, shard, "--grader", "contains: x")
    journal = shards[1] / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if line.startswith(b'{"type":"regraded"'))
    journal.write_bytes(b"".join(lines[:last]))
    done = merge(suite, "shards")
    assert done.code != 0
    assert "answers graded by grading 2" in " ".join((done.out + done.err).split())
